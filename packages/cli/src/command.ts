import type { Session } from './session.ts'
import type { Printer } from './terminal/printer.ts'

export interface Option {
  readonly type: 'string' | 'boolean'
  readonly multiple?: true
  /** For the help; the command itself checks it. */
  readonly required?: true
  readonly short?: string
  /** What the value is, for the help: <text>. */
  readonly value?: string
  readonly about: string
}

export type Options = Readonly<Record<string, Option>>

/** The values of options, by their names. */
export type Values<O extends Options> = {
  readonly [Name in keyof O]: O[Name]['type'] extends 'boolean'
    ? boolean
    : O[Name] extends { readonly multiple: true }
      ? readonly string[]
      : string | undefined
}

/** What a command returns: one JSON document, and the same as text. */
export interface Result {
  readonly json: unknown
  readonly print: (printer: Printer) => void
  /** The exit status: 0 unless given. 3 is for a verification in which something is not proven. */
  readonly status?: 0 | 1 | 3
}

export interface Command<O extends Options = Options> {
  /** The words that call it: `orders approve`. */
  readonly name: string
  readonly summary: string
  /** Names of the arguments. One that ends with ? may be left out, one that ends with … may also be repeated. */
  readonly parameters?: readonly string[]
  readonly options?: O
  /** Sentences below the options of its help. */
  readonly notes?: readonly string[]
  readonly examples?: readonly string[]
  /** The help of what the arguments name, instead of the command's own. */
  readonly describe?: (parameters: readonly string[]) => Promise<string>
  /** After Ctrl-C it still runs to its end, which says what became of its work. Other commands end at once. */
  readonly endsItself?: true
  /** A stream prints by itself and returns nothing. */
  readonly run: (call: Call<O>, session: Session) => Promise<Result | undefined>
}

export interface Call<O extends Options = Options> {
  readonly values: Values<O>
  readonly parameters: readonly string[]
}

/** Checks the options' types where the command is written; afterwards all commands have one type. */
export const command = <const O extends Options = Record<never, never>>(spec: Command<O>): Command =>
  spec as unknown as Command
