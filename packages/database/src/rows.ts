import type { ColumnType } from 'kysely'
import { COLUMNS, type Tables } from './tables.ts'

/** Columns are named in snake_case and fields in camelCase: `listing_id` is read into `listingId`. */
type Camel<Name> = Name extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : Name

const camel = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

type NameIn<Table extends keyof Tables> = keyof Tables[Table] & string

/** The names of a table's columns, without some of them. */
export function columns<Table extends keyof Tables, Without extends NameIn<Table> = never>(
  table: Table,
  ...without: readonly Without[]
): readonly Exclude<NameIn<Table>, Without>[] {
  const others = new Set<string>(without)
  const names = COLUMNS[table].split(' ') as Exclude<NameIn<Table>, Without>[]
  return names.filter((name) => !others.has(name))
}

/** Whether the field can have the column's values: it may be narrower, as `AgentId` is than `string`, but not without null. */
type Reads<Value, Field> = Value extends Field
  ? true
  : Value extends null
    ? false
    : unknown extends Value
      ? true
      : [NonNullable<Field>] extends [Value]
        ? true
        : false

/** The columns that are read into a field of their own name. */
type Read<Row, To> = {
  [Column in keyof Row]: Camel<Column> extends keyof To
    ? [Reads<Row[Column], To[Camel<Column>]>] extends [true]
      ? Column
      : never
    : never
}[keyof Row]

/**
 * Reads objects from rows. `names` are the columns that are read into a field of their own name, and `made` has every other
 * field. With `columns(table, …)` as names, neither a new column nor a new field compiles before it is read.
 */
export const rowReader =
  <Row, To>() =>
  <Column extends Read<Row, To>>(
    names: readonly (Column & string)[],
    made: { readonly [Field in Exclude<keyof To, Camel<Column>>]: (row: Row) => To[Field] },
  ): ((row: Row) => To) => {
    const same = names.map((name) => [name, camel(name)] as const)
    const others = Object.entries<(row: Row) => unknown>(made)
    const blank = blankOf([...same.map(([, field]) => field), ...others.map(([field]) => field)])
    return (row) => {
      const read: Record<string, unknown> = { ...blank }
      for (const [name, field] of same) read[field] = row[name]
      for (const [field, make] of others) read[field] = make(row)
      return read as To
    }
  }

/** What is written into each column; unlike Kysely's `Insertable`, also those that can be null or have a default. */
type Written<Columns> = {
  [Column in keyof Columns]: Columns[Column] extends ColumnType<unknown, infer Value, unknown>
    ? Exclude<Value, undefined>
    : Columns[Column]
}

/** The columns that a field of the same name is written into. */
type Same<Columns, From> = {
  [Column in keyof Columns]: Camel<Column> extends keyof From
    ? From[Camel<Column>] extends Readonly<Written<Columns>[Column]>
      ? Column
      : never
    : never
}[keyof Columns]

/** Writes objects as rows. `names` are the columns that a field of the same name is written into, and `made` has the others. */
export const rowWriter =
  <Columns, From>() =>
  <Column extends Same<Columns, From>>(
    names: readonly (Column & string)[],
    made: { readonly [Other in Exclude<keyof Columns, Column>]: (from: From) => Written<Columns>[Other] },
  ): ((from: From) => Written<Columns>) => {
    const same = names.map((name) => [name, camel(name) as keyof From] as const)
    const others = Object.entries<(from: From) => unknown>(made)
    const blank = blankOf([...names, ...others.map(([name]) => name)])
    return (from) => {
      const row: Record<string, unknown> = { ...blank }
      for (const [name, field] of same) row[name] = from[field] ?? null
      for (const [name, make] of others) row[name] = make(from)
      return row as Written<Columns>
    }
  }

/** Has all fields at once: an object to which they are added one by one is slower to make and to read. */
const blankOf = (fields: readonly string[]): object =>
  JSON.parse(JSON.stringify(Object.fromEntries(fields.map((field) => [field, null]))))
