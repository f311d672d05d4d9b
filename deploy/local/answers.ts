// Whether a process answers: undefined when it does, else one sentence that says what is wrong.

/** A service bounds its checks to 700 ms: longer, so that its sentences are read while its stores hang (ms). */
const readinessTimeoutMs = 3_000;

/** Problem of a service that tells its state at `/healthz` of `port`. */
export async function readinessProblem(port: number): Promise<string | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/healthz`, {
      signal: AbortSignal.timeout(readinessTimeoutMs),
    });
    if (response.ok) return undefined;
    const { checks = {}, phase } = (await response.json()) as {
      checks?: Record<string, string>;
      phase?: string;
    };
    const sentences = Object.values(checks);
    return sentences.length > 0 ? sentences.map((sentence) => `${sentence}.`).join(' ') : `It is ${phase}.`;
  } catch {
    return 'It does not answer.';
  }
}

export async function discoveryProblem(port: number, issuer: string): Promise<string | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/.well-known/openid-configuration`, {
      signal: AbortSignal.timeout(2_000),
    });
    if (response.status !== 200) return `Its discovery document answers with status ${response.status}.`;
    const document = (await response.json()) as { issuer?: string };
    return document.issuer === issuer
      ? undefined
      : `Its discovery document names another issuer than ${issuer}.`;
  } catch {
    return 'Its discovery document cannot be read.';
  }
}

export async function pageProblem(port: number): Promise<string | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(2_000),
    });
    return response.status < 400 ? undefined : `Its first page answers with status ${response.status}.`;
  } catch {
    return 'It does not answer.';
  }
}
