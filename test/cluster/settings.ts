// What the suite is told about the cluster, by variables alone: any cluster that a kubeconfig names serves.
const environment = process.env;

/** The programs, which find the cluster by KUBECONFIG. */
export const kubectlProgram = environment.KUBECTL ?? 'kubectl';
export const helmProgram = environment.HELM ?? 'helm';

/** Name of every release. */
export const release = 'course-exchange';

export const imagePrefix = environment.IMAGE_PREFIX ?? 'course-exchange';
export const imageTag = environment.IMAGE_TAG ?? 'test';

export const postgresImage = environment.POSTGRES_IMAGE ?? 'postgres:18';
export const redisImage = environment.REDIS_IMAGE ?? 'redis:8';

/** Empty: the class that is the cluster's default. */
export const ingressClass = environment.INGRESS_CLASS ?? '';
/** Empty: found from the Ingress, else from the node. */
export const ingressAddress = environment.INGRESS_ADDRESS ?? '';

/** Empty: every namespace but those of this run may bring the public's requests. */
export const ingressNamespaceName = environment.INGRESS_NAMESPACE ?? '';

/** Ends the names of this run's namespaces. */
export const runName = environment.CLUSTER_RUN_NAME ?? 'run';
export const namespaceOf = (name: string) => `course-exchange-test-${runName}-${name}`;
/** Marks all namespaces that a run makes. */
export const runLabel = 'course-exchange.test/run';
