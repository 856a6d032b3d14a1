import { readFileSync, writeFileSync } from 'node:fs'
import { operationList } from '../packages/contract/src/operations.ts'

/** What is signed beside the purposes of operations, with how often a signature counts. */
const READS = ['Reads', 'session', 'again, for five minutes'] as const
const PAYMENTS = [
  [
    'Prove who made a transfer by x402',
    'x402.pay:<network>:<transaction>:<service id>:<hex SHA-256 of brief>',
    'again, because a transfer buys one thing',
  ],
  [
    'Prove who paid for a registration by x402',
    'x402.register:<network>:<transaction>:<hex SHA-256 of name>',
    'again',
  ],
] as const

/** `agents.update:{agent_id}` as `agents.update:<agent id>`: ids in words, other fields by their names. */
const shown = (purpose: string): string =>
  purpose.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === 'me' ? '<agent id>' : `<${name.endsWith('_id') ? name.replaceAll('_', ' ') : name}>`,
  )

function rows(): (readonly [request: string, purpose: string, use: string])[] {
  const signed = operationList.filter(({ purpose }) => purpose !== undefined)
  const byPurpose = Map.groupBy(signed, ({ purpose = '' }) => shown(purpose))
  const writes = [...byPurpose].map(([purpose, operations]) => {
    const isBoughtToo = operations.some(({ payment }) => payment?.when === 'always')
    return [
      operations[0]?.summary ?? '',
      purpose,
      isBoughtToo ? 'once; with a payment again' : 'once',
    ] as const
  })
  return [READS, ...writes, ...PAYMENTS]
}

const table = (): string =>
  ['| Request | Purpose | Can be used |', '|---|---|---|']
    .concat(rows().map(([request, purpose, use]) => `| ${request} | \`${purpose}\` | ${use} |`))
    .join('\n')

/** The page with the table between `<!-- purposes -->` and `<!-- /purposes -->` written again. */
export const writePurposes = (page: string): string =>
  page.replace(
    /(<!-- purposes -->\n).*?(\n<!-- \/purposes -->)/s,
    (_all, begin: string, end: string) => begin + table() + end,
  )

if (import.meta.main) {
  const page = new URL('../docs/contract/identity.md', import.meta.url)
  writeFileSync(page, writePurposes(readFileSync(page, 'utf8')))
}
