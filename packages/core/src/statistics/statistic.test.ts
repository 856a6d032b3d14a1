import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changesBetween, STATISTICS, type StatisticName, type Statistics, sumBy } from './statistic.ts'

const AGENT = 'agt_1'
const NAMES = Object.keys(STATISTICS) as StatisticName[]

test('changesBetween: only what differs, with the agent where a figure is counted for each agent', () => {
  const paid = { orders_created: 1n, orders_in_progress: 1n }
  const completed = { orders_created: 1n, orders_completed: 1n, completed_micros: 5n }
  expect(changesBetween(paid, completed, AGENT)).toEqual([
    { name: 'orders_in_progress', agentId: null, amount: -1n },
    { name: 'orders_completed', agentId: AGENT, amount: 1n },
    { name: 'completed_micros', agentId: AGENT, amount: 5n },
  ])
  expect(changesBetween(completed, completed, AGENT)).toEqual([])
})

test('changesBetween: the changes of any path through states sum to the last state', () => {
  const states = fc.array(fc.dictionary(fc.constantFrom(...NAMES), fc.bigInt({ min: 0n, max: 10n })))
  fc.assert(
    fc.property(states, (path) => {
      const steps = path.map((after, at) =>
        changesBetween(path[at - 1] ?? {}, after as Partial<Statistics>, AGENT),
      )
      const sums = new Map(sumBy(steps.flat(), ({ name }) => name))
      for (const name of NAMES) expect(sums.get(name) ?? 0n).toBe(path.at(-1)?.[name] ?? 0n)
    }),
  )
})
