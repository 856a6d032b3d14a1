import { parseSync } from '@swc/core'
import { MODULES } from '../../architecture.rules.ts'
import { OWNERS, READ_BY_OWNER } from '../../architecture.tables.ts'

const BUILDERS = new Set(['insertInto', 'replaceInto', 'updateTable', 'deleteFrom', 'mergeInto'])
const HOLE = '$hole'
const TARGET = `(?:only\\s+)?(?:"?public"?\\.)?"?(\\w+|\\${HOLE})"?`
const RAW = [
  `insert\\s+into\\s+${TARGET}`,
  `delete\\s+from\\s+${TARGET}`,
  `merge\\s+into\\s+${TARGET}`,
  `truncate\\s+(?:table\\s+)?${TARGET}`,
  // `for update` and `do update set` write nothing of their own.
  `(?<!for\\s+)update\\s+${TARGET}(?:\\s+(?:as\\s+)?\\w+)?\\s+set\\b`,
].map((source) => new RegExp(`\\b${source}`, 'gi'))

interface Found {
  /** Tables written by name. */
  readonly written: Set<string>
  /** Every table the file names anywhere: where a write's table is a variable, it is one of these. */
  readonly named: Set<string>
  unnamedWrite: boolean
}

const parsed = new Map<string, unknown>()

/** Writes and reads of a file are looked for in the same tree. */
function parse(source: string): unknown {
  const tree = parsed.get(source) ?? parseSync(source, { syntax: 'typescript', target: 'es2024' })
  parsed.set(source, tree)
  return tree
}

/** Lists the writes of one file to tables of other modules, or to tables it does not name. Comments do not count. */
export function foreignWrites(file: string, source: string): string[] {
  const found: Found = { written: new Set(), named: new Set(), unnamedWrite: false }
  visit(parse(source), found)
  const writer = moduleOf(file)
  const suspects = found.unnamedWrite ? found.written.union(found.named) : found.written
  const wrong = [...suspects].filter((table) => OWNERS[table] !== writer)
  const sentences = wrong.map((table) => `${file}: ${table} belongs to ${OWNERS[table]}, not to ${writer}`)
  if (found.unnamedWrite && found.named.size === 0) sentences.push(`${file}: writes a table it does not name`)
  const isStore = file.endsWith('/store.ts') || found.written.size === 0
  if (!isStore && wrong.length === 0) sentences.push(`${file}: only store.ts writes`)
  return sentences
}

const READERS = new Set(['selectFrom', 'innerJoin', 'leftJoin', 'rightJoin', 'fullJoin', 'from', 'using'])
const RAW_READ = new RegExp(`\\b(?:from|join)\\s+${TARGET}`, 'gi')

/** Lists the reads of one file from tables that only other modules may read. Comments do not count. */
export function foreignReads(file: string, source: string): string[] {
  const read = new Set<string>()
  visitReads(parse(source), read)
  const reader = moduleOf(file)
  return [...read]
    .filter((table) => READ_BY_OWNER.includes(table) && OWNERS[table] !== reader)
    .map((table) => `${file}: only ${OWNERS[table]} reads ${table}`)
}

function visitReads(node: unknown, read: Set<string>): void {
  if (Array.isArray(node)) for (const item of node) visitReads(item, read)
  if (!isNode(node)) return
  if (node['type'] === 'TemplateLiteral' && Array.isArray(node['quasis'])) {
    const text = node['quasis'].map((quasi: Node) => String(quasi['raw'])).join(HOLE)
    for (const [, table] of text.matchAll(RAW_READ)) read.add(table?.toLowerCase() ?? '')
  }
  if (node['type'] === 'CallExpression') {
    const { callee, arguments: args } = node
    const method = isNode(callee) && isNode(callee['property']) ? String(callee['property']['value']) : ''
    const table: unknown = Array.isArray(args) ? args[0]?.expression : undefined
    if (READERS.has(method) && isNode(table) && table['type'] === 'StringLiteral')
      read.add(String(table['value']).split(' ')[0] ?? '')
  }
  for (const child of Object.values(node)) visitReads(child, read)
}

const DOMAIN_FILE = new RegExp(`^packages/(?:${Object.keys(MODULES).join('|')})/src/([^/]+)/`)

const moduleOf = (file: string): string => DOMAIN_FILE.exec(file)?.[1] ?? 'no module'

type Node = Readonly<Record<string, unknown>>

function visit(node: unknown, found: Found): void {
  if (Array.isArray(node)) for (const item of node) visit(item, found)
  if (!isNode(node)) return
  if (node['type'] === 'StringLiteral') readText(String(node['value']), found)
  if (node['type'] === 'TemplateLiteral' && Array.isArray(node['quasis']))
    readText(node['quasis'].map((quasi: Node) => String(quasi['raw'])).join(HOLE), found)
  if (node['type'] === 'CallExpression') readCall(node, found)
  for (const child of Object.values(node)) visit(child, found)
}

function readText(text: string, found: Found): void {
  if (isTable(text)) found.named.add(text)
  for (const pattern of RAW)
    for (const [, target] of text.matchAll(pattern)) addTable(target?.toLowerCase(), found)
}

function readCall(call: Node, found: Found): void {
  const { callee, arguments: args } = call
  if (!isNode(callee) || !isNode(callee['property'])) return
  if (!BUILDERS.has(String(callee['property']['value'])) || !Array.isArray(args)) return
  const table: unknown = args[0]?.expression
  const isText = isNode(table) && table['type'] === 'StringLiteral'
  addTable(isText ? String(table['value']).split(' ')[0] : HOLE, found)
}

function addTable(target: string | undefined, found: Found): void {
  if (target === HOLE) found.unnamedWrite = true
  else if (target !== undefined && isTable(target)) found.written.add(target)
}

const isTable = (name: string) => Object.hasOwn(OWNERS, name)
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null
