import { setTimeout as wait } from 'node:timers/promises'
import { MINUTE } from '@market/kernel/clock'
import type { Network } from '@market/kernel/network'
import { until } from '../../support/until.ts'
import { ENDINGS } from './endings.ts'
import type { Ground } from './ground.ts'
import type { Load } from './load.ts'
import { isDone, isPaid, pay, type Stage } from './plays.ts'
import type { Prepared } from './side.ts'
import type { Story } from './story.ts'

interface Vanished {
  readonly story: Story
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

/** Some buyers notice at once that their payment is gone, and send it again. */
export async function sendAgain(load: Load, network: Network): Promise<void> {
  await wait(300)
  for (const { story, transfer } of await load.vanished(network)) {
    if (story.random() > AT_ONCE) continue
    await wait(story.random() * 300)
    // Its wallet may have sent another one in its place.
    await transfer.send().catch(() => undefined)
  }
}

/** Lets the application find out that payments are gone for good; tells whose they were. */
export async function loseThem(ground: Ground, stage: Stage, load: Load): Promise<readonly Vanished[]> {
  const lost = (await Promise.all(ground.evm.map(({ network }) => load.vanished(network)))).flat()
  const rowsOf = async () => {
    const references = lost.map(({ transfer }) => transfer.reference)
    if (references.length === 0) return []
    const { db } = stage.app
    return db.selectFrom('transfers').selectAll().where('reference', 'in', references).execute()
  }
  await until(
    'the application misses what vanished',
    async () =>
      (await rowsOf()).every(({ state, missing_since }) => state === 'gone' || missing_since !== null),
    { withinMs: NOTICED_WITHIN_MS, everyMs: 200 },
  ).catch(() => undefined)
  // What the application itself brought to the chain, it brings there again before anybody gives it up.
  const isBack = async () => {
    const missing = await stage.app.db
      .selectFrom('transfers')
      .select('reference')
      .where('missing_since', 'is not', null)
      .where('state', '<>', 'gone')
      .execute()
    return missing.every(({ reference }) => lost.some(({ transfer }) => transfer.reference === reference))
  }
  await until('what the application sent is back', isBack, {
    withinMs: NOTICED_WITHIN_MS,
    everyMs: 200,
  }).catch(() => undefined)
  await stage.app.jump(LONG_MS)
  await until('what vanished is gone', async () => (await rowsOf()).every(({ state }) => state === 'gone'), {
    withinMs: NOTICED_WITHIN_MS,
    everyMs: 200,
  }).catch(() => undefined)
  return lost
}

/** Buyers whose payment was undone pay again, some with the very same bytes, and see their order through. */
export async function payAgain(ground: Ground, stage: Stage, lost: readonly Vanished[]): Promise<number> {
  const again = await Promise.all(
    lost.map(async ({ story, transfer }) => {
      const dice = story.random()
      if (dice > OTHER_NETWORK || story.orderId === undefined) return false
      const network = dice < SAME_BYTES ? transfer.network : otherOf(ground, transfer.network)
      const to = stage.app.treasuries[network]
      const next = dice < SAME_BYTES ? transfer : await story.buyer.prepare(network, to, transfer.amount)
      if (next !== transfer) story.sent.push(next)
      await next.send().catch(() => undefined)
      const isThere = () => ground.sides[network].isThere(next.reference)
      await until('it is mined', isThere).catch(() => undefined)
      if (!isDone(await pay(stage, story, next)) || !(await isPaid(stage, story, PAID_WITHIN_MS)))
        return false
      await ENDINGS.approved[1](stage, story)
      return true
    }),
  )
  return again.filter(Boolean).length
}

const otherOf = (ground: Ground, network: Network): Network =>
  ground.evm.find((side) => side.network !== network)?.network ?? network
