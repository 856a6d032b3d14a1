import type { PayoutSender } from '@market/core/ports/payout-sender'
import { isOutage } from '@market/database/outage'
import { SECOND } from '@market/kernel/clock'
import { authorizePayouts, type Candidate, readTreasury } from './authorize-payouts.ts'
import { type Payout, senderRequestOf } from './payout.ts'
import type { PayoutContext } from './payout-context.ts'

/** Payouts of a network that a worker advances at once, and that one transaction authorizes at most. */
export const PAYOUTS_AT_ONCE = 32

/** For how long a balance of the treasury counts, as long as no later block became final. */
const BALANCE_MS = 5 * SECOND

/** The payout as it is now, undefined when another transaction has locked or changed it, or why it can never be paid. */
export type Outcome = Payout | undefined | { readonly rejection: string }

export type Authorize = (candidate: Candidate) => Promise<Outcome>

interface Request {
  readonly candidate: Candidate
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/**
 * Authorizes payouts of one network one batch after another: those that arrive while a batch is decided are the next one.
 * So a single payout waits for no other, and many share a lock and a commit.
 */
export function payoutAuthorizer(ctx: PayoutContext, sender: PayoutSender): Authorize {
  const requests: Request[] = []
  const balance = balanceReader(ctx, sender)
  let isRunning = false
  const run = async () => {
    isRunning = true
    try {
      while (requests.length > 0)
        await authorizeBatch(ctx, sender, requests.splice(0, PAYOUTS_AT_ONCE), balance)
    } finally {
      isRunning = false
    }
  }
  return (candidate) =>
    new Promise((resolve, reject) => {
      requests.push({ candidate, resolve, reject })
      if (!isRunning) void run()
    })
}

type Balance = Awaited<ReturnType<typeof readTreasury>>

/** A payout that became final is in the balance that was read before, and is no longer counted: then the chain is read again. */
function balanceReader(ctx: PayoutContext, sender: PayoutSender): () => Promise<Balance> {
  let last = { until: 0, final: undefined as bigint | undefined, balance: undefined as Balance | undefined }
  return async () => {
    const query = ctx.db.selectFrom('followed_networks').select('final_height')
    const final = (await query.where('network', '=', sender.network).executeTakeFirst())?.final_height
    if (last.balance !== undefined && last.final === final && performance.now() < last.until)
      return last.balance
    const balance = await readTreasury(sender)
    last = { until: performance.now() + BALANCE_MS, final, balance }
    return balance
  }
}

/**
 * Never throws: each request is answered. One that cannot be decided fails alone, because the others are decided again, with
 * what the chain says then. When the database itself fails or a lock is not free in time, all fail: none would succeed.
 */
async function authorizeBatch(
  ctx: PayoutContext,
  sender: PayoutSender,
  requests: readonly Request[],
  readBalance: () => Promise<Balance> = () => readTreasury(sender),
): Promise<void> {
  const rejectAll = (error: unknown) => {
    for (const { reject } of requests) reject(error)
  }
  const read = await Promise.all([readBalance(), failuresOf(sender, requests)]).catch(rejectAll)
  if (read === undefined) return
  const [balance, failures] = read
  const payable: Request[] = []
  for (const [n, request] of requests.entries())
    if (failures[n] === undefined || !(await endRejected(sender, request))) payable.push(request)
  if (payable.length > 0) await authorizePayable(ctx, sender, payable, balance)
}

/** EVM: what was signed is tried for the whole batch at once. */
const failuresOf = async (
  { batches }: PayoutSender,
  requests: readonly Request[],
): Promise<readonly (string | undefined)[]> =>
  batches === undefined ? [] : batches.failures(requests.map(({ candidate }) => candidate.signed))

/** Whether what failed for one payout is the payee's fault, or the nodes cannot say. Both concern no other payout. */
const endRejected = async (
  sender: PayoutSender,
  { candidate, resolve, reject }: Request,
): Promise<boolean> => {
  try {
    const rejection = await sender.rejectionReason(senderRequestOf(candidate.payout))
    if (rejection !== undefined) resolve({ rejection })
    return rejection !== undefined
  } catch (error) {
    reject(error)
    return true
  }
}

async function authorizePayable(
  ctx: PayoutContext,
  sender: PayoutSender,
  requests: readonly Request[],
  balance: Balance,
): Promise<void> {
  const candidates = requests.map(({ candidate }) => candidate)
  try {
    const decided = await authorizePayouts(ctx, sender, candidates, balance)
    for (const { candidate, resolve } of requests) {
      // fix: one-step-is-sent
      const outcome = decided.get(candidate)
      resolve(outcome)
    }
  } catch (error) {
    if (requests.length === 1 || isOutage(error)) {
      for (const { reject } of requests) reject(error)
      return
    }
    for (const one of requests) await authorizeBatch(ctx, sender, [one])
  }
}
