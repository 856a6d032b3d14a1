import type { Operation } from '@market/contract/define'
import type { JsonSchema } from './wire.ts'

/** Credential fields that a request may have beside the fields of its operation. */
const WALLET: Readonly<Record<string, JsonSchema>> = {
  wallet: { type: 'string', description: 'The wallet that signs' },
  wallet_sig: { type: 'string', description: 'Its signature over the text of GET /api/auth/message' },
  wallet_sig_ts: { type: 'integer', description: 'The Unix milliseconds inside that text' },
  wallet_chain: { type: 'string', enum: ['solana', 'base'] },
}

const TOKEN: Readonly<Record<string, JsonSchema>> = {
  idp_access_token: {
    type: 'string',
    description: 'An identity-provider access token, for clients that cannot send a header',
  },
}

export const isSigned = (operation: Operation): boolean =>
  operation.callers.includes('wallet') || operation.cosigned === true

/** The credential fields that an operation accepts. */
export function credentialFields(operation: Operation): Readonly<Record<string, JsonSchema>> {
  const allowsUsers = operation.callers.some((kind) => kind === 'user' || kind === 'admin')
  return { ...(isSigned(operation) && WALLET), ...(allowsUsers && TOKEN) }
}
