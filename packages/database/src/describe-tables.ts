import pg from 'pg'

/** How each Postgres type arrives in and leaves from TypeScript; a type that is not here does not pass. */
const TYPES: Readonly<Record<string, string>> = {
  bool: 'boolean',
  bytea: 'Buffer',
  date: 'Date',
  float8: 'number',
  int2: 'number',
  int4: 'number',
  int8: 'bigint',
  numeric: 'string',
  json: 'Json',
  jsonb: 'Json',
  text: 'string',
  timestamptz: 'Date',
  tsvector: 'string',
  uuid: 'string',
  _int4: 'number[]',
  _timestamptz: 'Date[]',
  _text: 'string[]',
}

interface Column {
  readonly table: string
  readonly column: string
  readonly type: string
  readonly nullable: boolean
  readonly has_default: boolean
  readonly generated: boolean
}

const COLUMNS = `
  select c.relname as table, a.attname as column, t.typname as type, not a.attnotnull as nullable,
         a.atthasdef or a.attidentity <> '' as has_default,
         a.attgenerated <> '' or a.attidentity = 'a' as generated
  from pg_attribute a
  join pg_class c on c.oid = a.attrelid
  join pg_namespace n on n.oid = c.relnamespace
  join pg_type t on t.oid = a.atttypid
  where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition
    and a.attnum > 0 and not a.attisdropped and c.relname <> 'migrations'
  order by c.relname, a.attnum`

/** The text of `tables.ts`, drawn from a migrated database. */
export async function describeTables(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<Column>(COLUMNS)
    return render(rows)
  } finally {
    await client.end()
  }
}

function render(columns: readonly Column[]): string {
  const tables = Map.groupBy(columns, (column) => column.table)
  const blocks = [...tables].map(
    ([name, list]) => `  ${name}: {\n${list.map((c) => `    ${c.column}: ${typeOf(c)}\n`).join('')}  }\n`,
  )
  const body = blocks.join('')
  const helpers = ['ColumnType', 'Generated', 'GeneratedAlways'].filter((helper) =>
    new RegExp(`\\b${helper}<`).test(body + JSON_TYPE),
  )
  const names = [...tables].map(([name, list]) => namesOf(name, list))
  return `${header(helpers)}\n${JSON_TYPE}\nexport interface Tables {\n${body}}\n\n${NAMES}${names.join('')}}\n`
}

const NAMES =
  '/** The names of the columns, which `rows.ts` splits. */\nexport const COLUMNS: Readonly<Record<keyof Tables, string>> = {\n'

const LINE_WIDTH = 110

function namesOf(table: string, columns: readonly Column[]): string {
  const text = `'${columns.map(({ column }) => column).join(' ')}',\n`
  const line = `  ${table}: ${text}`
  return line.length - 1 <= LINE_WIDTH ? line : `  ${table}:\n    ${text}`
}

const header = (helpers: readonly string[]) =>
  `// Written by \`npm run db:types\` from the migrated database; do not edit.\nimport type { ${helpers.join(', ')} } from 'kysely'\n`

const JSON_TYPE =
  '/** Read as parsed JSON, written as text. */\ntype Json = ColumnType<unknown, string, string>\n'

function typeOf(column: Column): string {
  const base = TYPES[column.type]
  if (base === undefined)
    throw new Error(`${column.table}.${column.column}: no TypeScript type for ${column.type}`)
  const type = column.nullable ? `${base} | null` : base
  if (column.generated) return `GeneratedAlways<${type}>`
  return column.has_default ? `Generated<${type}>` : type
}
