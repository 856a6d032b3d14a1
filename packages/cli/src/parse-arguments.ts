import { parseArgs } from 'node:util'
import { closestName } from '@market/contract/closest-name'
import type { Call, Command, Options } from './command.ts'
import { UsageError } from './usage-error.ts'

/** Every command takes these. */
export const GLOBAL_OPTIONS = {
  json: { type: 'boolean', about: 'print one JSON document; a stream prints one line for each event' },
  profile: { type: 'string', value: 'name', about: 'the profile of `market config` to use' },
  'api-url': { type: 'string', value: 'url', about: 'the API, instead of MARKET_API_URL and the profile' },
  as: { type: 'string', value: 'agent|user', about: 'which credential to use where both are stored' },
  help: { type: 'boolean', short: 'h', about: 'what the command does and takes' },
  version: { type: 'boolean', about: 'the version of this program' },
} as const satisfies Options

type GlobalValues = Call<typeof GLOBAL_OPTIONS>['values']

export interface Parsed {
  /** Undefined for `market`, `market --help` and `market --version`. */
  readonly command: Command | undefined
  readonly globals: GlobalValues
  readonly call: Call
}

/** Which command is called, and with what. */
export function parseArguments(args: readonly string[], commands: readonly Command[]): Parsed {
  const { words, rest } = splitWords(args)
  if (words[0] === 'help') return parseArguments([...words.slice(1), ...rest, '--help'], commands)
  const [command, used] = findCommand(words, commands)
  const options: Options = { ...GLOBAL_OPTIONS, ...command?.options }
  const { values, positionals } = readTokens([...words.slice(used), ...rest], options, command)
  const globals = values as GlobalValues
  if (globals.as !== undefined && globals.as !== 'agent' && globals.as !== 'user')
    throw new UsageError(`--as is ${globals.as}. Write --as agent or --as user.`)
  if (!globals.help && !globals.version) {
    if (command === undefined && positionals.length > 0) throw unknownCommand(positionals, commands)
    if (command !== undefined) checkParameters(command, positionals, commands)
  }
  return { command, globals, call: { values: values as Call['values'], parameters: positionals } }
}

/** The words before the first option of the command. Global options may come before them. */
function splitWords(args: readonly string[]): { words: string[]; rest: string[] } {
  const words: string[] = []
  const before: string[] = []
  let at = 0
  for (; at < args.length; at++) {
    const one = args[at] ?? ''
    if (!one.startsWith('-')) words.push(one)
    else if (words.length > 0) break
    else {
      before.push(one)
      const option = GLOBAL_OPTIONS[one.slice(2) as keyof typeof GLOBAL_OPTIONS]
      if (option?.type === 'string' && at + 1 < args.length) before.push(args[++at] ?? '')
    }
  }
  return { words, rest: [...before, ...args.slice(at)] }
}

/** The command with the longest name, and how many words its name has. */
function findCommand(words: readonly string[], commands: readonly Command[]): [Command | undefined, number] {
  for (const count of [2, 1]) {
    const name = words.slice(0, count).join(' ')
    const found = words.length < count ? undefined : commands.find((one) => one.name === name)
    if (found !== undefined) return [found, count]
  }
  return [undefined, 0]
}

function readTokens(args: string[], options: Options, command: Command | undefined) {
  const { tokens } = parseArgs({ args, options, strict: false, tokens: true, allowPositionals: true })
  const help = command === undefined ? 'market --help' : `market ${command.name} --help`
  const values: Record<string, string | boolean | string[]> = {}
  for (const [name, { type, multiple }] of Object.entries(options)) {
    if (type === 'boolean') values[name] = false
    else if (multiple) values[name] = []
  }
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const option = Object.hasOwn(options, name) ? options[name] : undefined
    if (option === undefined) {
      const similar = closestName(name, Object.keys(options))
      const hint = similar === undefined ? '' : ` Did you mean --${similar}?`
      throw new UsageError(`Unknown option: ${rawName}.${hint}`, help)
    }
    if (option.type === 'boolean') {
      if (value !== undefined) throw new UsageError(`${rawName} takes no value.`, help)
      values[name] = true
      continue
    }
    // A value that looks like an option is more likely a forgotten value.
    if (value === undefined || (!inlineValue && value.length > 1 && value.startsWith('-')))
      throw new UsageError(`${rawName} needs a value. Write ${rawName}=<${option.value ?? 'value'}>.`, help)
    const earlier = values[name]
    values[name] = Array.isArray(earlier) ? [...earlier, value] : value
  }
  return { values, positionals }
}

function unknownCommand(words: readonly string[], commands: readonly Command[]): UsageError {
  const [first = '', second] = words
  const group = commands.filter(({ name }) => name.startsWith(`${first} `))
  const all = [...new Set(commands.flatMap(({ name }) => [name, name.split(' ')[0] ?? '']))]
  if (group.length > 0 && second === undefined)
    return new UsageError(
      `market ${first} needs another word: ${group.map(({ name }) => name.slice(first.length + 1)).join(', ')}.`,
      `market ${first} --help`,
    )
  const similar = closestName(words.slice(0, 2).join(' '), all) ?? closestName(first, all) ?? undefined
  const hint = similar === undefined ? '' : ` Did you mean market ${similar}?`
  return new UsageError(`Unknown command: market ${words.slice(0, 2).join(' ')}.${hint}`, 'market --help')
}

function checkParameters(
  { name, parameters = [] }: Command,
  positionals: readonly string[],
  commands: readonly Command[],
): void {
  const help = `market ${name} --help`
  const missing = parameters.findIndex(
    (parameter, at) => !/[?…]$/.test(parameter) && at >= positionals.length,
  )
  if (missing !== -1)
    throw new UsageError(
      `<${parameters[missing]}> is missing. Write: market ${name} ${usageOfParameters(parameters)}`,
      help,
    )
  const extra = positionals[parameters.length]
  if (extra === undefined || parameters.at(-1)?.endsWith('…')) return
  const below = commands.filter((one) => one.name.startsWith(`${name} `)).map((one) => one.name)
  const similar = closestName(`${name} ${extra}`, below)
  const hint = similar === undefined ? '' : ` Did you mean market ${similar}?`
  throw new UsageError(`Unknown argument: ${extra}.${hint}`, help)
}

export const usageOfParameters = (parameters: readonly string[]): string =>
  parameters
    .map((one) => {
      if (one.endsWith('…')) return `[${one.slice(0, -1)} …]`
      return one.endsWith('?') ? `[<${one.slice(0, -1)}>]` : `<${one}>`
    })
    .join(' ')
