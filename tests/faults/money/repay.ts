import { setTimeout as wait } from 'node:timers/promises'
import { MINUTE } from '@market/kernel/clock'
import type { Network } from '@market/kernel/network'
import { isTrueWithin } from '../../support/until.ts'
import type { Environment } from './environment.ts'
import type { Load } from './load.ts'
import { isDone, isPaid, pay, type RunContext } from './order-actions.ts'
import { SCENARIOS } from './scenarios.ts'
import type { Prepared } from './test-chain.ts'
import type { TestOrder } from './test-order.ts'

interface Vanished {
  readonly testOrder: TestOrder
  readonly transfer: Prepared
}

/** What a buyer does whose payment a reorganisation took away: the same bytes at once, or later, or another payment. */
const AT_ONCE = 0.4
const SAME_BYTES = 0.5
const OTHER_NETWORK = 0.9

/** Longer than a missing payment is waited for, and than one that never came is. */
const LONG_MS = 61 * MINUTE
const NOTICED_WITHIN_MS = 20_000
const PAID_WITHIN_MS = 15_000
const MINED_WITHIN_MS = 30_000

/** Some buyers notice at once that their payment is gone, and send it again. */
export async function sendAgain(load: Load, network: Network): Promise<void> {
  await wait(300)
  for (const { testOrder, transfer } of await load.vanished(network)) {
    if (testOrder.random() > AT_ONCE) continue
    await wait(testOrder.random() * 300)
    // Its wallet may have sent another one in its place.
    await transfer.send().catch(() => undefined)
  }
}

/** Lets the application find out that payments are gone for good; tells whose they were. */
export async function dropTransfers(
  environment: Environment,
  context: RunContext,
  load: Load,
): Promise<readonly Vanished[]> {
  const lost = (await Promise.all(environment.evm.map(({ network }) => load.vanished(network)))).flat()
  const rowsOf = async () => {
    const references = lost.map(({ transfer }) => transfer.reference)
    if (references.length === 0) return []
    const { db } = context.app
    return db.selectFrom('transfers').selectAll().where('reference', 'in', references).execute()
  }
  const isMissed = async () =>
    (await rowsOf()).every(({ state, missing_since }) => state === 'gone' || missing_since !== null)
  await isTrueWithin(NOTICED_WITHIN_MS, isMissed, 200)
  // The application sends its own dropped transactions again before it treats them as gone.
  const isBack = async () => {
    const missing = await context.app.db
      .selectFrom('transfers')
      .select('reference')
      .where('missing_since', 'is not', null)
      .where('state', '<>', 'gone')
      .execute()
    return missing.every(({ reference }) => lost.some(({ transfer }) => transfer.reference === reference))
  }
  await isTrueWithin(NOTICED_WITHIN_MS, isBack, 200)
  await context.app.jump(LONG_MS)
  const isGone = async () => (await rowsOf()).every(({ state }) => state === 'gone')
  await isTrueWithin(NOTICED_WITHIN_MS, isGone, 200)
  return lost
}

/** Buyers whose payment was undone pay again, some with the very same bytes, and see their order through. */
export async function payAgain(
  environment: Environment,
  context: RunContext,
  lost: readonly Vanished[],
): Promise<number> {
  const again = await Promise.all(
    lost.map(async ({ testOrder, transfer }) => {
      const dice = testOrder.random()
      if (dice > OTHER_NETWORK || testOrder.orderId === undefined) return false
      const network = dice < SAME_BYTES ? transfer.network : otherOf(environment, transfer.network)
      const to = context.app.treasuries[network]
      const next = dice < SAME_BYTES ? transfer : await testOrder.buyer.prepare(network, to, transfer.amount)
      if (next !== transfer) testOrder.sent.push(next)
      await next.send().catch(() => undefined)
      const isMined = () => environment.testChains[network].isMined(next.reference)
      await isTrueWithin(MINED_WITHIN_MS, isMined)
      if (!isDone(await pay(context, testOrder, next)) || !(await isPaid(context, testOrder, PAID_WITHIN_MS)))
        return false
      await SCENARIOS.approved[1](context, testOrder)
      return true
    }),
  )
  return again.filter(Boolean).length
}

const otherOf = (environment: Environment, network: Network): Network =>
  environment.evm.find((testChain) => testChain.network !== network)?.network ?? network
