import { readFileSync, writeFileSync } from 'node:fs'
import { TRANSITIONS as WALLETS } from '../packages/custody/src/wallets/states.ts'
import { TRANSITIONS as VENUE_TRANSFERS } from '../packages/earn/src/venue-transfers/states.ts'
import type { TransitionTable } from '../packages/kernel/src/states.ts'
import { TRANSITIONS as PAYOUTS } from '../packages/money/src/payouts/states.ts'
import { TRANSITIONS as ORDERS } from '../packages/trade/src/orders/states.ts'

/** The diagrams of ARCHITECTURE.md. `first` are the states in which a new row can be inserted. */
const DIAGRAMS: Readonly<
  Record<string, { readonly table: TransitionTable; readonly first: readonly string[] }>
> = {
  orders: { table: ORDERS, first: ['pending_quote', 'quoted'] },
  payouts: { table: PAYOUTS, first: ['queued', 'failed'] },
  wallets: { table: WALLETS, first: ['requested'] },
  venueTransfers: { table: VENUE_TRANSFERS, first: ['funding', 'withdrawing'] },
}

/** One arrow per pair of states, with every action that leads from the first to the second. */
function arrowsOf(from: string, actions: Readonly<Record<string, string>>): string[] {
  if (Object.keys(actions).length === 0) return [`  ${from} --> [*]`]
  const byTarget = Object.entries(Object.groupBy(Object.keys(actions), (action) => String(actions[action])))
  return byTarget.map(([to, names = []]) => `  ${from} --> ${to}: ${names.join(', ')}`)
}

const draw = (name: string): string => {
  const diagram = DIAGRAMS[name]
  if (diagram === undefined) throw new Error(`ARCHITECTURE.md: states of ${name} are not a known diagram`)
  const first = diagram.first.map((state) => `  [*] --> ${state}`)
  const arrows = Object.entries(diagram.table).flatMap(([from, actions]) => arrowsOf(from, actions))
  return ['```mermaid', 'stateDiagram-v2', ...first, ...arrows, '```'].join('\n')
}

/** The page with every diagram between `<!-- states:name -->` and `<!-- /states:name -->` drawn again. */
export const drawStates = (page: string): string =>
  page.replace(
    /(<!-- states:(\w+) -->\n).*?(<!-- \/states:\2 -->)/gs,
    (_all, begin: string, name: string, end: string) => `${begin}${draw(name)}\n${end}`,
  )

if (import.meta.main) {
  const page = new URL('../ARCHITECTURE.md', import.meta.url)
  writeFileSync(page, drawStates(readFileSync(page, 'utf8')))
}
