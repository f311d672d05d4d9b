// Changes on the wire: translation only.

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ChangeSchema } from '@course-exchange/proto/operator/v1/change';
import type { Change } from '../../domain/change.ts';

export function changeMessages(changes: readonly Change[]): MessageInitShape<typeof ChangeSchema>[] {
  return changes.map(({ action, object, fields }) => ({
    ...{ action, object },
    fields: fields.map(({ field, before = '', after = '' }) => ({ field, before, after })),
  }));
}
