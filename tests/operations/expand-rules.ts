import type { Migration } from '@market/database/migrations'
import type { Release } from './releases.ts'

/** The migrations that the rules bind: those after the first release. Before it, a schema change edits the baseline. */
export function boundMigrations(
  migrations: readonly Migration[],
  releases: readonly Release[],
): readonly Migration[] {
  const [first] = releases
  return first === undefined ? [] : migrations.filter(({ name }) => name > first.migration)
}

const CONTRACT = /^-- contract: (\S+)/
const OUTSIDE_TRANSACTION = '-- outside a transaction\n'
/** Before a statement that cannot be judged by its form: why the release before still works. */
const COMPATIBLE = /^\s*-- compatible: .{15,}$/m

interface Kind {
  readonly pattern: RegExp
  /** Undefined when it may run as it is, otherwise what is wrong. */
  readonly problem?: (statement: string, created: ReadonlySet<string>) => string | undefined
}

const tableOf = (statement: string): string =>
  /\b(?:on|into|table(?: only| if exists)?) (\w+)/.exec(statement)?.[1] ?? ''
const onCreated = (statement: string, created: ReadonlySet<string>): boolean =>
  created.has(tableOf(statement))

/** Each action of ALTER TABLE, split at commas outside parentheses. */
function actionsOf(statement: string): string[] {
  const actions: string[] = ['']
  let depth = 0
  for (const char of statement.replace(/^alter table (?:only )?(?:if exists )?\w+ /, '')) {
    if (char === '(') depth++
    if (char === ')') depth--
    if (char === ',' && depth === 0) actions.push('')
    else actions[actions.length - 1] += char
  }
  return actions.map((action) => action.trim())
}

function alterProblem(statement: string, created: ReadonlySet<string>): string | undefined {
  if (onCreated(statement, created)) return undefined
  const actions = actionsOf(statement)
  const added = actions.flatMap((action) => /^add constraint (\w+)/.exec(action)?.[1] ?? [])
  for (const action of actions) {
    if (/^add column /.test(action)) {
      if (/ not null/.test(action) && !/ default /.test(action))
        return 'a new column that is not null needs a default'
      if (/ default .*\b(?:random|gen_random_uuid|clock_timestamp|nextval)\b/.test(action))
        return 'a default that differs per row rewrites the table'
      if (/ (?:primary key|unique|references|check)\b/.test(action))
        return 'add the constraint by itself, not valid, and validate it in a later migration'
    } else if (/^add constraint /.test(action)) {
      if (!/ not valid$/.test(action))
        return 'a constraint is added not valid, and validated in a later migration'
    } else if (/^drop constraint /.test(action)) {
      const [, name = ''] = /^drop constraint (\w+)/.exec(action) ?? []
      if (!added.includes(name)) return 'a constraint is only replaced by a wider one of the same name'
    } else if (
      !/^(?:validate constraint |set statistics|alter column \w+ set (?:default|statistics) )/.test(action)
    ) {
      return `"${action.slice(0, 60)}" is no expand step`
    }
  }
  return actions.some((action) => action.startsWith('validate')) &&
    actions.some((action) => action.startsWith('add'))
    ? 'validate a constraint in another migration than the one that adds it'
    : undefined
}

const KINDS: readonly Kind[] = [
  { pattern: /^create table / },
  {
    pattern: /^create (?:unique )?index (?!concurrently)/,
    problem: (statement, created) =>
      onCreated(statement, created) ? undefined : 'an index of an existing table is created concurrently',
  },
  { pattern: /^(?:create (?:unique )?index concurrently|drop index concurrently if exists) / },
  { pattern: /^alter table /, problem: alterProblem },
  {
    pattern:
      /^(?:comment on|grant|create function|create type|create sequence|create extension if not exists) /,
  },
  {
    pattern: /^create (?:constraint )?trigger /,
    problem: (statement, created) =>
      onCreated(statement, created)
        ? undefined
        : 'a trigger of an existing table needs "-- compatible: <why>"',
  },
  {
    pattern: /^insert into /,
    problem: (statement, created) =>
      onCreated(statement, created) ? undefined : 'rows of existing tables are filled by a sweep, in batches',
  },
]

/** The statements with the comments before them. A semicolon within quotes or `$$` ends none. */
export function statementsOf(sql: string): string[] {
  const parts = sql.match(/--[^\n]*|\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|;|[^;$'-]+|[\s\S]/g) ?? []
  const statements = ['']
  for (const part of parts)
    if (part === ';') statements.push('')
    else statements[statements.length - 1] += part
  return statements.filter((statement) => plain(statement) !== '')
}

const plain = (statement: string): string =>
  statement
    .replace(/--[^\n]*/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase()

/** Why old processes could not run with this migration, or why it would stop them; empty when it is an expand step. */
export function problemsOf({ sql }: Pick<Migration, 'sql'>, releases: readonly Release[]): string[] {
  const contract = CONTRACT.exec(sql)?.[1]
  if (contract !== undefined)
    return releases.some(({ name }) => name === contract)
      ? []
      : [`"-- contract: ${contract}" names no release of deploy/releases`]
  const statements = statementsOf(sql)
  const created = new Set(
    statements.flatMap((one) => /^create table (?:if not exists )?(\w+)/.exec(plain(one))?.[1] ?? []),
  )
  const isOutside = sql.startsWith(OUTSIDE_TRANSACTION)
  return statements.flatMap((statement) => {
    if (COMPATIBLE.test(statement)) return []
    const text = plain(statement)
    const kind = KINDS.find(({ pattern }) => pattern.test(text))
    if (kind === undefined) return [`"${text.slice(0, 60)}" is no expand step`]
    if (/ concurrently /.test(text) !== isOutside)
      return [
        `only a file that begins with "${OUTSIDE_TRANSACTION.trim()}" has concurrent indexes, and nothing else`,
      ]
    const problem = kind.problem?.(text, created)
    return problem === undefined ? [] : [`${problem}: "${text.slice(0, 60)}"`]
  })
}
