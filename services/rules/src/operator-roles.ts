// Who may call what at the operators' port and the feed's: the role of a certificate (decision 0017).

const roles = ['operator', 'auditor', 'key-rotation', 'feed'] as const;
type Role = (typeof roles)[number];

/** By gRPC path; what is not here is the operator's alone. */
const methods: Readonly<Record<string, readonly Role[]>> = {
  '/courseexchange.operator.v1.AuditService/ListAuditEntries': ['operator', 'auditor'],
  '/courseexchange.operator.v1.AuditService/FollowAuditEntries': ['operator', 'auditor'],
  '/courseexchange.operator.v1.AuditService/VerifyAudit': ['operator', 'auditor'],
  '/courseexchange.operator.v1.ClientService/DescribeInstallation': ['operator', 'auditor'],
  '/courseexchange.operator.v1.ClientService/GetClient': ['operator', 'auditor'],
  '/courseexchange.operator.v1.ClientService/ListClients': ['operator', 'auditor'],
  '/courseexchange.operator.v1.ConductService/GetConduct': ['operator', 'auditor'],
  '/courseexchange.operator.v1.ConsentService/ListConsents': ['operator', 'auditor'],
  '/courseexchange.operator.v1.KeyService/ListKeys': ['operator', 'auditor', 'key-rotation'],
  '/courseexchange.operator.v1.KeyService/RotateKeys': ['operator', 'key-rotation'],
  '/courseexchange.operator.v1.RefusalService/ListRefusals': ['operator', 'auditor'],
  '/courseexchange.operator.v1.SecretService/ListSecrets': ['operator', 'auditor'],
  '/courseexchange.feed.v1.FeedService/Apply': ['operator', 'feed'],
  '/courseexchange.feed.v1.FeedService/GetResumePoint': ['operator', 'auditor', 'feed'],
  '/courseexchange.feed.v1.FeedService/Verify': ['operator', 'auditor', 'feed'],
  '/courseexchange.feed.v1.FeedService/MeasureVolume': ['operator', 'auditor', 'feed'],
};

export const operatorRoles = { roles, methods };
