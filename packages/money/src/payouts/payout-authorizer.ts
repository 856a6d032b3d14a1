import { TooFewProviders } from '@market/core/ports/chain'
import type { PayoutGroups, PayoutSender, SignedPayout } from '@market/core/ports/payout-sender'
import { isOutage } from '@market/database/outage'
import { assert } from '@market/kernel/assert'
import { SECOND } from '@market/kernel/clock'
import {
  authorizePayouts,
  type Candidate,
  type Checked,
  disagreeHold,
  NotTogether,
  readTreasury,
  tooFew,
} from './authorize-payouts.ts'
import { holdPayout } from './find-hold.ts'
import { findFinalHeight } from './guards/store.ts'
import { type Payout, senderRequestOf } from './payout.ts'
import type { PayoutContext } from './payout-context.ts'

/** Payouts of a network that a worker advances at once, and that one transaction authorizes at most. */
export const PAYOUTS_AT_ONCE = 32

/** For how long a balance of the treasury counts, as long as no later block became final. */
const BALANCE_MS = 5 * SECOND

/** The payout as it is now, and what must be sent for it: a transaction that is shared is sent for its first payout. */
interface Decided {
  readonly payout: Payout
  readonly send?: SignedPayout | undefined
}

/** Undefined when another transaction has locked or changed the payout, or why it can never be paid. */
export type Outcome = Decided | undefined | { readonly rejection: string }

export type Authorize = (checked: Checked) => Promise<Outcome>

interface Request {
  readonly checked: Checked
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
  return (checked) =>
    new Promise((resolve, reject) => {
      requests.push({ checked, resolve, reject })
      if (!isRunning) void run()
    })
}

type Balance = Awaited<ReturnType<typeof readTreasury>>

/** A payout that became final is in the balance that was read before, and is no longer counted: then the chain is read again. */
function balanceReader(ctx: PayoutContext, sender: PayoutSender): () => Promise<Balance> {
  let last = { until: 0, final: undefined as bigint | undefined, balance: undefined as Balance | undefined }
  return async () => {
    const final = await findFinalHeight(ctx.db, sender.network)
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
  const { groups } = sender
  if (groups !== undefined) {
    for (const some of groupsOf(groups, requests))
      await authorizeGroup(ctx, sender, groups, some, readBalance)
    return
  }
  const read = await Promise.all([readBalance(), failuresOf(sender, requests)]).catch((error: unknown) =>
    rejectAll(requests, error),
  )
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
  batches === undefined ? [] : batches.failures(requests.map(({ checked }) => candidateOf(checked).signed))

const candidateOf = ({ signed, ...checked }: Checked): Candidate => {
  assert(signed !== undefined, `${checked.payout.id} was signed`)
  return { ...checked, signed }
}

/** Whether what failed for one payout is the payee's fault, or the nodes cannot say. Both concern no other payout. */
const endRejected = async (sender: PayoutSender, { checked, resolve, reject }: Request): Promise<boolean> => {
  try {
    const rejection = await sender.rejectionReason(senderRequestOf(checked.payout))
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
  try {
    const candidates = requests.map(({ checked }) => candidateOf(checked))
    answer(requests, candidates, await authorizePayouts(ctx, sender, candidates, balance))
  } catch (error) {
    if (requests.length === 1 || isOutage(error)) return rejectAll(requests, error)
    for (const one of requests) await authorizeBatch(ctx, sender, [one])
  }
}

const rejectAll = (requests: readonly Request[], error: unknown): void => {
  for (const { reject } of requests) reject(error)
}

function answer(
  requests: readonly Request[],
  candidates: readonly Candidate[],
  decided: ReadonlyMap<Candidate, Payout>,
): void {
  for (const [at, candidate] of candidates.entries()) {
    // fix: one-step-is-sent
    const payout = decided.get(candidate)
    const isFirst = (candidate.index ?? 0) === 0
    requests[at]?.resolve(payout && { payout, send: isFirst ? candidate.signed : undefined })
  }
}

/** It can fail, or takes more space. What failed before must not fail others. */
const leavesAlone = ({ checked: { payout, opensAccount } }: Request): boolean =>
  opensAccount || payout.round > 1

/** Several steps can ask for one payout at once: they are in different groups. */
function groupsOf({ size }: PayoutGroups, requests: readonly Request[]): readonly (readonly Request[])[] {
  const alone = requests.filter(leavesAlone).map((request) => [request])
  const groups: Request[][] = []
  for (const request of requests.filter((one) => !leavesAlone(one))) {
    const isSame = (one: Request) => one.checked.payout.id === request.checked.payout.id
    const group = groups.find((some) => some.length < size && !some.some(isSame))
    if (group === undefined) groups.push([request])
    else group.push(request)
  }
  return [...alone, ...groups]
}

/** Solana: one transaction for all of them. When some cannot leave, they are decided by themselves, and the others without them. */
async function authorizeGroup(
  ctx: PayoutContext,
  sender: PayoutSender,
  groups: PayoutGroups,
  requests: readonly Request[],
  readBalance: () => Promise<Balance>,
): Promise<void> {
  try {
    const signed = await signGroup(sender, groups, requests)
    if (signed instanceof TooFewProviders) {
      for (const { checked, resolve } of requests)
        resolve({ payout: await holdPayout(ctx, checked.payout, disagreeHold(signed)) })
      return
    }
    const balance = await readBalance()
    answer(requests, signed, await authorizePayouts(ctx, sender, signed, balance, signed.length > 1))
  } catch (error) {
    if (requests.length === 1 || isOutage(error)) return rejectAll(requests, error)
    const stopped = requests.filter(
      ({ checked }) => !(error instanceof NotTogether) || error.stopped.has(checked.payout.id),
    )
    const others = requests.filter((request) => !stopped.includes(request))
    // The others first: they were decided before.
    for (const some of [...(others.length > 0 ? [others] : []), ...stopped.map((one) => [one])])
      await authorizeGroup(ctx, sender, groups, some, readBalance)
  }
}

async function signGroup(
  sender: PayoutSender,
  groups: PayoutGroups,
  requests: readonly Request[],
): Promise<readonly Candidate[] | TooFewProviders> {
  const all = requests.map(({ checked }) => checked)
  const wanted = all.map(({ payout, opensAccount }) => ({ ...senderRequestOf(payout), opensAccount }))
  const [only, ...others] = wanted
  const isShared = only === undefined || others.length > 0
  const signed = await (isShared ? groups.sign(wanted) : sender.sign(only, 0)).catch(tooFew)
  if (signed instanceof TooFewProviders) return signed
  const native = isShared ? groups.share(all.length) : undefined
  return all.map((checked, index) => ({
    ...{ ...checked, signed, index },
    cost: native === undefined ? checked.cost : { ...checked.cost, native },
  }))
}
