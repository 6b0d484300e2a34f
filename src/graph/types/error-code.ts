import { builder } from '../../engine/builder.ts';
import { type ClientCode, clientCodes, messageOf } from '../../engine/errors/codes.ts';

export const ErrorCode = builder.enumType('ErrorCode', {
  description:
    'The `extensions.code` of an error: what happened. Treat an unknown one as a failure without a known cause. `docs/errors.md` says what to do about each.',
  values: Object.fromEntries(
    clientCodes.map((code) => [code, { value: code, description: messageOf(code) }]),
  ) as Record<ClientCode, { value: ClientCode; description: string }>,
});
