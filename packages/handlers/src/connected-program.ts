import { type Context, nameOf } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { recordChange } from '@market/identity/oauth'
import { ApiError } from '@market/kernel/api-error'
import type { Call } from './call.ts'
import type { Caller } from './caller.ts'
import type { HandlerContext } from './handler.ts'

/** Whether a program calls that a user connected by OAuth. It acts as the agent, but does not get all that its API key gets. */
const isProgram = ({ caller }: HandlerContext): boolean => caller.scopes !== undefined

/** The secret would stay valid after the connection has ended. */
export const webhookSecretFor = (ctx: HandlerContext, secret: string | null): string | null =>
  isProgram(ctx) ? null : secret

const PAYOUT_FIELDS = ['payout_chain', 'payout_wallet', 'payout_address_base']

/** Where the money of an agent goes is decided by who has its API key, and by its owner. */
export function requirePayoutRight(ctx: HandlerContext, input: Readonly<Record<string, unknown>>): void {
  const changesPayout = PAYOUT_FIELDS.some((field) => input[field] !== undefined)
  if (!isProgram(ctx) || !changesPayout) return
  throw new ApiError(
    'forbidden',
    'A connected program cannot change payout settings. Use the agent’s API key, or sign in as its owner.',
    { code: 'wrong_credential' },
  )
}

/** Records what a connected program changes, for its user. Other callers change things in their own name. */
export async function recordProgramChange(
  ctx: Pick<Context, 'clock'>,
  tx: Tx,
  { operation, input }: Pick<Call, 'operation' | 'input'>,
  { actor }: Caller,
  response?: unknown,
): Promise<void> {
  const grantId = actor.credential?.grantId
  if (grantId === undefined) return
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  const fields = given
    .filter(([name]) => !isId(name))
    .map(([name, value]) => (name === 'action' ? String(value) : name))
  const [, id] = given.find(([name]) => isId(name) && name !== 'agent_id') ?? []
  await recordChange(ctx, tx, grantId, {
    operation: operation.id,
    subject: String(id ?? idIn(response) ?? nameOf(actor)),
    fields: fields.toSorted(),
  })
}

const isId = (name: string): boolean => name.endsWith('_id')

const idIn = (response: unknown): unknown => {
  const { data } = (response ?? {}) as { data?: { id?: unknown; agent_id?: unknown } | null }
  return data?.id ?? data?.agent_id
}
