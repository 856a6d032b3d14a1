import { ApiError } from '@market/kernel/api-error'
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
