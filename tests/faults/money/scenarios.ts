import {
  approve,
  cancel,
  deliver,
  dispute,
  isDone,
  type RunContext,
  refund,
  resolve,
  revise,
} from './order-actions.ts'
import type { TestOrder } from './test-order.ts'

type Scenario = (context: RunContext, testOrder: TestOrder) => Promise<unknown>

const ALWAYS = 1

async function approveMaybeTwice(context: RunContext, testOrder: TestOrder) {
  const times = testOrder.random() < 0.4 ? 2 : 1
  await Promise.all(Array.from({ length: times }, () => approve(context, testOrder)))
}

async function approveOrDispute(context: RunContext, testOrder: TestOrder) {
  await deliver(context, testOrder)
  await Promise.all([approve(context, testOrder), dispute(context, testOrder)])
}

/** One of them wins; what is delivered is then approved. */
async function cancelOrDeliver(context: RunContext, testOrder: TestOrder) {
  const [, delivered] = await Promise.all([cancel(context, testOrder), deliver(context, testOrder)])
  if (isDone(delivered)) await approveMaybeTwice(context, testOrder)
}

async function disputed(context: RunContext, testOrder: TestOrder, end: Scenario) {
  await deliver(context, testOrder)
  if (isDone(await dispute(context, testOrder))) await end(context, testOrder)
}

const splitIt: Scenario = (context, testOrder) =>
  resolve(context, testOrder, {
    outcome: 'split',
    agent_share_bps: 1 + Math.floor(testOrder.random() * 9_999),
  })

/** Both at once: the agent refunds while the operator releases. */
const refundOrAward: Scenario = (context, testOrder) =>
  Promise.all([refund(context, testOrder), resolve(context, testOrder, { outcome: 'release' })])

/** What happens after the payment: the first scenario whose cumulative share is above the random number. */
export const SCENARIOS = {
  approved: [
    0.3,
    async (context, testOrder) => {
      await deliver(context, testOrder)
      await approveMaybeTwice(context, testOrder)
    },
  ],
  /** Never chosen at random, only by the `scenario` setting. */
  approvedAtOnce: [
    0.3,
    async (context, testOrder) => {
      await deliver(context, testOrder)
      await Promise.all([
        approve(context, testOrder),
        approve(context, testOrder),
        approve(context, testOrder),
      ])
    },
  ],
  approvedOrDisputed: [0.42, approveOrDispute],
  cancelledOrDelivered: [0.54, cancelOrDeliver],
  cancelled: [0.66, cancel],
  refunded: [0.72, (context, testOrder) => disputed(context, testOrder, refund)],
  split: [0.8, (context, testOrder) => disputed(context, testOrder, splitIt)],
  refundedOrAwarded: [0.86, (context, testOrder) => disputed(context, testOrder, refundOrAward)],
  revised: [
    0.91,
    async (context, testOrder) => {
      await deliver(context, testOrder)
      await revise(context, testOrder)
      await deliver(context, testOrder)
      await approveMaybeTwice(context, testOrder)
    },
  ],
  /** The buyer does not respond to the delivery, and the deadline releases it. */
  unanswered: [0.97, (context, testOrder) => deliver(context, testOrder)],
  left: [ALWAYS, async () => undefined],
} as const satisfies Record<string, readonly [share: number, Scenario]>

export type ScenarioName = keyof typeof SCENARIOS

export function scenarioOf(dice: number): ScenarioName {
  const names = Object.keys(SCENARIOS) as ScenarioName[]
  return names.find((name) => dice < SCENARIOS[name][0]) ?? 'left'
}
