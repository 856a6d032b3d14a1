import { cleanLine } from '@market/cli/src/terminal/clean-text.ts'
import type { ResponseOf } from '@market/contract/define'
import { usageOf } from '@market/contract/operation-fields'
import { type Operations, operations } from '@market/contract/operations'

export type Overview = ResponseOf<Operations['getOverview']>['data']

type Block = Exclude<keyof Overview, 'at' | 'waiting'>
type Row = readonly string[]

interface Counted {
  readonly count: number
  readonly at_least: boolean
}

interface Money {
  readonly network: string
  readonly count: number
  readonly amount_usd: string
  readonly oldest_at: string
}

/** The overview as a table. `!` marks the blocks that wait for an operator; how to resolve them follows. */
export function printOverview(overview: Overview): string {
  const waits = new Set<string>(overview.waiting)
  const blocks = Object.entries(rowsOf(overview)) as [Block, Row[]][]
  const rows = blocks.flatMap(([name, [first = [], ...more]]) => [
    [waits.has(name) ? '!' : ' ', name, ...first],
    ...more.map((row) => ['', '', ...row]),
  ])
  return [
    overview.waiting.length === 0
      ? `Nothing waits for you (${overview.at}).`
      : `Waits for you: ${overview.waiting.join(', ')} (${overview.at}).`,
    '',
    ...alignColumns(rows),
    ...actLines(overview),
    '',
  ].join('\n')
}

function rowsOf(overview: Overview): Record<Block, Row[]> {
  const { contests, dropped_webhooks: dropped, jobs, statistics, approvals, switches } = overview
  const money = ({ network, count, amount_usd, oldest_at }: Money, what = ''): Row => [
    String(count),
    network,
    `${amount_usd} USD`,
    `oldest ${ageOf(oldest_at, overview.at)}`,
    what,
  ]
  return {
    disputes: [
      [countOf(overview.disputes)],
      ...overview.disputes.networks.map((one) => money(one)),
      ...overview.disputes.order_ids.map((id) => ['', id]),
    ],
    contests: [
      [
        countOf(contests),
        `${contests.for_arbiter} for an arbiter`,
        contests.oldest_at === null ? '' : `oldest ${ageOf(contests.oldest_at, overview.at)}`,
      ],
    ],
    held_payouts: [
      [countOf(overview.held_payouts)],
      ...overview.held_payouts.groups.map((one) =>
        money(one, one.needs_operator ? one.hold_code : `${one.hold_code} (ends without you)`),
      ),
    ],
    failed_payouts: [
      [countOf(overview.failed_payouts)],
      ...overview.failed_payouts.groups.map((one) => money(one, one.hold_code ?? '')),
    ],
    unmatched_transfers: [
      [countOf(overview.unmatched_transfers)],
      ...overview.unmatched_transfers.groups.map((one) => money(one, one.kind)),
    ],
    dropped_webhooks: [
      [countOf(dropped), `in 24 hours, of ${dropped.agents} agents`],
      ...dropped.most.map(({ agent_id, count }) => [String(count), agent_id]),
    ],
    gas: overview.gas.networks.map(({ network, settlements_left: left, few_below }) => [
      left === null ? 'unknown' : String(left),
      network,
      left === null ? 'its nodes do not respond' : `payments left; few below ${few_below}`,
    ]),
    reserves: overview.reserves.networks.map(({ network, solvent, shortfall_usd, age_seconds }) => [
      solvent === null ? 'unknown' : solvent ? 'covered' : 'short',
      network,
      solvent === null ? 'no snapshot' : `${shortfall_usd} USD missing`,
      age_seconds === null ? '' : `checked ${duration(age_seconds)} ago`,
    ]),
    jobs: [[countOf(jobs), `due, oldest ${duration(jobs.oldest_seconds)}`, `${jobs.failing} failing`]],
    statistics: [
      [countOf(statistics), `changes not counted yet, oldest ${duration(statistics.oldest_seconds)}`],
    ],
    approvals: [
      [
        countOf(approvals),
        approvals.next_expiry_at === null ? '' : `the first expires at ${approvals.next_expiry_at}`,
      ],
    ],
    switches: [
      [String(switches.on.length)],
      ...switches.on.map(({ name, on_since, changed_by, reason }) => [
        '',
        name,
        on_since === null ? '' : `on for ${ageOf(on_since, overview.at)}`,
        changed_by ?? '',
        reason ?? '',
      ]),
    ],
  }
}

const countOf = ({ count, at_least }: Counted): string => (at_least ? `${count}+` : String(count))

const ageOf = (from: string, to: string): string =>
  duration(Math.max(0, Math.floor((Date.parse(to) - Date.parse(from)) / 1_000)))

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const

/** In the largest unit that fits: `3 d`, `5 h`, `12 min`, `8 s`. */
export function duration(seconds: number): string {
  for (const [unit, length] of UNITS) if (seconds >= length) return `${Math.floor(seconds / length)} ${unit}`
  return `${seconds} s`
}

/** Spaces stay, because a mark of one space fills a cell. */
const cleanCell = (text: string): string => (text === ' ' ? text : cleanLine(text))

/** Cells of a column have the same width. */
export function alignColumns(texts: readonly Row[]): string[] {
  const rows = texts.map((row) => row.map(cleanCell))
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(0, ...rows.map((row) => row[at]?.length ?? 0)),
  )
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** The commands that show or resolve what waits, each once. */
function actLines(overview: Overview): string[] {
  const ids = new Set(overview.waiting.flatMap((block) => overview[block].acts.map((act) => act.operation)))
  const known = Object.values(operations).filter(({ id }) => ids.has(id))
  if (known.length === 0) return []
  return ['', 'To act:', ...known.map((operation) => `  npm run admin -- ${usageOf(operation)}`)]
}
