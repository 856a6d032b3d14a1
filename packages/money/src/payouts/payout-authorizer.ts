import type { PayoutSender } from '@market/core/ports/payout-sender'
import { isOutage } from '@market/database/outage'
import { SECOND } from '@market/kernel/clock'
import { authorizePayouts, type Candidate, type ChainFacts, readChainFacts } from './authorize-payouts.ts'
import type { Payout } from './payout.ts'
import type { PayoutContext } from './payout-context.ts'

/** Payouts of a network that a worker advances at once, and that one transaction authorizes at most. */
export const PAYOUTS_AT_ONCE = 32

/** For how long what the chain says about the treasury counts, as long as no later block became final. */
const FACTS_MS = 5 * SECOND

/** Undefined when another transaction has locked the payout or changed it: it is checked again. */
export type Authorize = (candidate: Candidate) => Promise<Payout | undefined>

interface Request {
  readonly candidate: Candidate
  readonly resolve: (payout: Payout | undefined) => void
  readonly reject: (error: unknown) => void
}

/**
 * Authorizes payouts of one network one batch after another: those that arrive while a batch is decided are the next one.
 * So a single payout waits for no other, and many share a lock and a commit.
 */
export function payoutAuthorizer(ctx: PayoutContext, sender: PayoutSender): Authorize {
  const requests: Request[] = []
  const facts = factsReader(ctx, sender)
  let isRunning = false
  const run = async () => {
    isRunning = true
    try {
      while (requests.length > 0)
        await authorizeBatch(ctx, sender, requests.splice(0, PAYOUTS_AT_ONCE), facts)
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

/** A payout that became final is in the balance that was read before, and is no longer counted: then the chain is read again. */
function factsReader(ctx: PayoutContext, sender: PayoutSender): () => Promise<ChainFacts> {
  let last = { until: 0, final: undefined as bigint | undefined, facts: undefined as ChainFacts | undefined }
  return async () => {
    const query = ctx.db.selectFrom('followed_networks').select('final_height')
    const final = (await query.where('network', '=', sender.network).executeTakeFirst())?.final_height
    if (last.facts !== undefined && last.final === final && performance.now() < last.until) return last.facts
    const facts = await readChainFacts(ctx, sender)
    last = { until: performance.now() + FACTS_MS, final, facts }
    return facts
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
  readFacts: () => Promise<ChainFacts> = () => readChainFacts(ctx, sender),
): Promise<void> {
  const rejectAll = (error: unknown) => {
    for (const { reject } of requests) reject(error)
  }
  const facts = await readFacts().catch(rejectAll)
  if (facts === undefined) return
  const candidates = requests.map(({ candidate }) => candidate)
  try {
    const decided = await authorizePayouts(ctx, sender, candidates, facts)
    for (const { candidate, resolve } of requests) resolve(decided.get(candidate.payout.id))
  } catch (error) {
    if (requests.length === 1 || isOutage(error)) return rejectAll(error)
    for (const one of requests) await authorizeBatch(ctx, sender, [one])
  }
}
