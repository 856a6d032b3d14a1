import { TooFewProviders } from '@market/core/ports/chain'
import type { PayoutSender, SignedPayout } from '@market/core/ports/payout-sender'
import { findStopping, payoutSwitches } from '@market/core/switches'
import { type Tx, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { formatUsd, type Usdc, usdc } from '@market/kernel/money'
import { requireTreasury } from './batches/store.ts'
import { type Counted, type CounterChange, scopesOf, withChanges } from './counters/counters.ts'
import { applyCounters, findCounted } from './counters/store.ts'
import { earlyHold, freezeHold, type SendingCost } from './find-hold.ts'
import { recordSpending } from './funding-hold.ts'
import { findGuard } from './guards/store.ts'
import type { Hold } from './hold.ts'
import { decideCaps } from './limits/caps.ts'
import { gasBudgetHold } from './limits/gas-budget.ts'
import { saveOpenedAccount } from './limits/store.ts'
import { decideAccount } from './limits/token-account.ts'
import { type Guard, isCompared } from './outgoing/guard.ts'
import { compareWithPayout } from './outgoing/outgoing-transfer.ts'
import { findTransferMatches } from './outgoing/store.ts'
import { isWaiting, type Payout, type PayoutId } from './payout.ts'
import type { PayoutContext } from './payout-context.ts'
import { insertSignature } from './signatures/store.ts'
import { lockNetwork, lockPayouts, type Saved, saveHold, savePayoutOnly } from './store.ts'

/** A payout that nothing holds so far, and what sending it costs. */
export interface Checked {
  readonly payout: Payout
  readonly cost: SendingCost
  readonly opensAccount: boolean
  /** Absent where it can share a transaction: it is signed when it is known with which others. */
  readonly signed?: SignedPayout
}

/** What was signed leaves the process only after it is stored. */
export interface Candidate extends Checked {
  readonly signed: SignedPayout
  /** Which payment of the transaction it is. */
  readonly index?: number
}

/** Some of the payouts of a transaction cannot leave now, so it is not stored for any of them. */
export class NotTogether extends Error {
  readonly stopped: ReadonlySet<PayoutId>
  constructor(stopped: readonly Candidate[]) {
    super('some payouts of a transaction cannot leave')
    this.stopped = new Set(stopped.map(({ payout }) => payout.id))
  }
}

/** What the treasury has, read with no transaction open. */
export const readTreasury = (sender: PayoutSender): Promise<Usdc | TooFewProviders> =>
  sender.usdcBalance().catch(tooFew)

/** For `catch`: returns what makes payouts wait. */
export const tooFew = (error: unknown): TooFewProviders => {
  if (error instanceof TooFewProviders) return error
  throw error
}

/**
 * Stores what was signed for payouts of a network or holds them, the oldest first; one that is held holds no other back. Guard,
 * switches, caps and balance are one decision of one transaction: after the request that turns a freeze on has returned, no
 * further payout is authorized. Returns the payouts as they are now, without those that another worker has locked or signed, that
 * are to be paid otherwise than what was checked, or that the chain shows: their next step recovers them. Of several candidates
 * for one payout the last is decided. What was signed for the others is not stored, so it must never be sent. Candidates of one
 * transaction of the chain (`isOne`) are all stored, or none: then it throws `NotTogether`.
 */
export function authorizePayouts(
  ctx: PayoutContext,
  sender: PayoutSender,
  candidates: readonly Candidate[],
  balance: Usdc | TooFewProviders,
  isOne = false,
): Promise<Map<Candidate, Payout>> {
  return transact(ctx.db, async (tx) => {
    const decided = await decideAll(ctx, tx, sender, candidates, balance)
    const stopped = candidates.filter((candidate) => decided.get(candidate)?.state !== 'signed')
    if (isOne && stopped.length > 0) throw new NotTogether(stopped)
    return decided
  })
}

async function decideAll(
  ctx: PayoutContext,
  tx: Tx,
  { network, treasury }: PayoutSender,
  candidates: readonly Candidate[],
  balance: Usdc | TooFewProviders,
): Promise<Map<Candidate, Payout>> {
  const checked = new Map(candidates.map((candidate) => [candidate.payout.id, candidate]))
  await lockNetwork(tx, network)
  await requireTreasury(tx, network, treasury)
  const locked = await lockPayouts(tx, [...checked.keys()])
  const payouts = locked.filter((payout) => !isChanged(payout, checked.get(payout.id)?.payout))
  const guard = await findGuard(tx, network, 'shared')
  const decided = new Map<Candidate, Payout>()
  const open: (readonly [Candidate, Payout])[] = []
  for (const payout of payouts) {
    const candidate = checked.get(payout.id)
    assert(candidate !== undefined, `${payout.id} was signed`)
    // Another worker has stored what it signed, so this worker's must never be sent.
    // fix: only-what-is-stored-is-sent
    if (!isWaiting(payout)) continue
    if (!isCompared(guard))
      decided.set(candidate, await saveHold(tx, payout, { code: 'not_compared' }, ctx.clock.now()))
    else if (compareWithPayout(payout, await findTransferMatches(tx, payout)).kind === 'none')
      open.push([candidate, payout])
  }
  if (open.length === 0) return decided
  const frozen = freezeHold(network, await findStopping(tx, payoutSwitches(network)))
  const scopes = open.flatMap(([, payout]) => scopesOf(payout))
  let counted = await findCounted(tx, network, scopes, ctx.clock.now())
  const changes: CounterChange[] = []
  for (const [candidate, payout] of open) {
    assert(isCompared(guard) && payout.network === network, `${payout.id} is paid on ${network}`)
    const done =
      frozen === undefined
        ? await decide(ctx, tx, payout, { guard, candidate, counted, balance })
        : { payout: await saveHold(tx, payout, frozen, ctx.clock.now()), counters: [] }
    if (done === undefined) continue
    decided.set(candidate, done.payout)
    changes.push(...done.counters)
    counted = withChanges(counted, done.counters)
  }
  await applyCounters(tx, changes)
  return decided
}

/** Payee and cost were checked before the lock, and what was signed is for them. */
const isChanged = (payout: Payout, checked: Payout | undefined): boolean =>
  payout.round !== checked?.round ||
  payout.markRound !== checked.markRound ||
  payout.network !== checked.network ||
  payout.payee !== checked.payee ||
  payout.amount !== checked.amount

interface Known {
  readonly guard: Guard
  readonly candidate: Candidate
  readonly counted: Counted
  readonly balance: Usdc | TooFewProviders
}

/** Authorizes one payout under the lock of its network, or holds it. Undefined: it was signed otherwise than is decided now. */
async function decide(
  ctx: PayoutContext,
  tx: Tx,
  payout: Payout,
  { guard, candidate, counted, balance }: Known,
): Promise<Saved | undefined> {
  const { cost, opensAccount, signed, index } = candidate
  const now = ctx.clock.now()
  const held = async (hold: Hold) => ({ payout: await saveHold(tx, payout, hold, now), counters: [] })
  const early = await earlyHold(ctx, tx, payout, guard)
  if (early !== undefined) return held(early)
  const caps = await decideCaps(ctx, tx, payout, counted)
  if (caps.hold !== undefined) return held(caps.hold)
  const account = await decideAccount(ctx, tx, payout, cost.createsAccount)
  if (account.hold !== undefined) return held(account.hold)
  if (account.opens !== opensAccount) return undefined
  const hold =
    gasBudgetHold(ctx.caps, payout.network, counted, cost.native) ??
    balanceHold(payout, balance, usdc(counted.inFlight))
  if (hold !== undefined) return held(hold)
  if (!(await insertSignature(tx, payout, 1, { ...signed, index }, now))) return undefined
  await recordSpending(tx, payout)
  const { agentId, payee } = payout
  if (opensAccount) {
    assert(agentId !== null && payee !== null, `${payout.id} pays an agent`)
    await saveOpenedAccount(tx, { ...payout, payee }, agentId, now)
  }
  const change = { countsAgainstCaps: caps.counts, opensAccount, cost: cost.native }
  return savePayoutOnly(tx, payout, 'sign', change, now)
}

export const disagreeHold = ({ message }: TooFewProviders): Hold => ({
  code: 'providers_disagree',
  detail: message,
})

/**
 * The treasury must hold this payout and all that are signed and not final. A payout that has left the treasury and
 * is not final yet is counted twice for a moment, which only delays the next one.
 */
function balanceHold({ amount }: Payout, balance: Usdc | TooFewProviders, inFlight: Usdc): Hold | undefined {
  if (balance instanceof TooFewProviders) return disagreeHold(balance)
  if (balance >= inFlight + amount) return undefined
  const detail = `it holds ${formatUsd(balance)}, of which ${formatUsd(inFlight)} is for signed payouts`
  return { code: 'balance_low', detail }
}
