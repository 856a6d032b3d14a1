import { expect, test } from 'vitest'
import { EVENT_COLUMNS } from './subcommands/events.ts'
import { PAYOUT_COLUMNS, WALLET_COLUMNS } from './subcommands/money.ts'
import { ORDER_COLUMNS } from './subcommands/orders.ts'
import { SERVICE_COLUMNS } from './subcommands/services.ts'
import { painter } from './terminal/colors.ts'
import { tableLines } from './terminal/table.ts'
import { widthOf } from './terminal/width.ts'

const id = (prefix: string) => `${prefix}_1794784877443_0snwjnwxjbap05ksv`
const HASH = `0x${'4f1c9a3be27d5806'.repeat(4)}`
const SOLANA = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU'
const TITLE = 'Reviews a pull request and explains what it would change, in 80 characters'

/** The widest row of each list. */
const LISTS = [
  ['services', SERVICE_COLUMNS, [id('svc'), TITLE, 'brand_content', '12345.50/month', 720, 4.85]],
  ['orders', ORDER_COLUMNS, [id('ord'), 'revision_requested', TITLE, '12345.50', '2026-11-18 04:35']],
  ['payouts', PAYOUT_COLUMNS, [id('ord'), 'signed', '12345.50', 'solana-mainnet', HASH]],
  [
    'wallet operations',
    WALLET_COLUMNS,
    ['2026-11-18 04:35', 'mint_identity', 'requested', '12345.123456 USDC', SOLANA, HASH],
  ],
  ['events list', EVENT_COLUMNS, ['123456', '2026-11-18 04:35:12', 'order.revision_requested', id('ord')]],
] as const

test.each(LISTS)('%s: the widest row is one line at 80 columns, with its whole id', (_, columns, row) => {
  const [head = '', line = '', ...rest] = tableLines(columns, [row], { width: 80, paint: painter(false) })
  for (const one of [head, line, ...rest]) expect(widthOf(one)).toBeLessThanOrEqual(80)
  expect(head.startsWith(columns[0]?.title ?? '') || columns[0]?.align === 'right').toBe(true)
  for (const cell of row) if (/^(svc|ord)_/.test(String(cell))) expect(line).toContain(cell)
  const hidden = columns.filter(({ title }) => !head.includes(title.slice(0, 9)))
  expect(hidden.every(({ leftOut }) => leftOut !== undefined)).toBe(true)
  for (const { title } of hidden) expect(rest.join(' ')).toContain(title.toLowerCase())
})

test.each(LISTS)('%s: a wide terminal and a pipe show every column', (_, columns, row) => {
  for (const width of [300, undefined]) {
    const lines = tableLines(columns, [row], { width, paint: painter(false) })
    expect(lines).toHaveLength(2)
    for (const { title } of columns) expect(lines[0]).toContain(title)
    for (const cell of row) expect(lines[1]).toContain(String(cell))
  }
})
