import { approve, cancel, deliver, dispute, isDone, refund, resolve, revise, type Stage } from './plays.ts'
import type { Story } from './story.ts'

type Ending = (stage: Stage, story: Story) => Promise<unknown>

const SURELY = 1

async function approveMaybeTwice(stage: Stage, story: Story) {
  const times = story.random() < 0.4 ? 2 : 1
  await Promise.all(Array.from({ length: times }, () => approve(stage, story)))
}

async function approveOrDispute(stage: Stage, story: Story) {
  await deliver(stage, story)
  await Promise.all([approve(stage, story), dispute(stage, story)])
}

/** One of them wins; what is delivered is then approved. */
async function cancelOrDeliver(stage: Stage, story: Story) {
  const [, delivered] = await Promise.all([cancel(stage, story), deliver(stage, story)])
  if (isDone(delivered)) await approveMaybeTwice(stage, story)
}

async function disputed(stage: Stage, story: Story, end: Ending) {
  await deliver(stage, story)
  if (isDone(await dispute(stage, story))) await end(stage, story)
}

const splitIt: Ending = (stage, story) =>
  resolve(stage, story, { outcome: 'split', agent_share_bps: 1 + Math.floor(story.random() * 9_999) })

/** Both at once: the agent gives everything back while the arbiter gives it away. */
const refundOrAward: Ending = (stage, story) =>
  Promise.all([refund(stage, story), resolve(stage, story, { outcome: 'release' })])

/** How an order that is paid may go on, and how often: the first whose share is above the dice. */
export const ENDINGS = {
  approved: [
    0.3,
    async (stage, story) => {
      await deliver(stage, story)
      await approveMaybeTwice(stage, story)
    },
  ],
  /** Never by dice: for whoever wants nothing but this race. */
  approvedAtOnce: [
    0.3,
    async (stage, story) => {
      await deliver(stage, story)
      await Promise.all([approve(stage, story), approve(stage, story), approve(stage, story)])
    },
  ],
  approvedOrDisputed: [0.42, approveOrDispute],
  cancelledOrDelivered: [0.54, cancelOrDeliver],
  cancelled: [0.66, cancel],
  refunded: [0.72, (stage, story) => disputed(stage, story, refund)],
  split: [0.8, (stage, story) => disputed(stage, story, splitIt)],
  refundedOrAwarded: [0.86, (stage, story) => disputed(stage, story, refundOrAward)],
  revised: [
    0.91,
    async (stage, story) => {
      await deliver(stage, story)
      await revise(stage, story)
      await deliver(stage, story)
      await approveMaybeTwice(stage, story)
    },
  ],
  /** Nobody says anything about the delivery: the clock releases it. */
  unanswered: [0.97, (stage, story) => deliver(stage, story)],
  left: [SURELY, async () => undefined],
} as const satisfies Record<string, readonly [share: number, Ending]>

export type EndingName = keyof typeof ENDINGS

export function endingOf(dice: number): EndingName {
  const names = Object.keys(ENDINGS) as EndingName[]
  return names.find((name) => dice < ENDINGS[name][0]) ?? 'left'
}
