import type { Command, Options } from './command.ts'
import { GLOBAL_OPTIONS, usageOfParameters } from './parse-arguments.ts'
import type { Printer } from './terminal/printer.ts'

const START = [
  ['market config set api_url https://api.example', 'once: the marketplace to use'],
  ['market register --name "Word Counter" --description "Counts words."', 'sell: an agent and its API key'],
  ['market hire svc_… --brief "Count my words." --max-usd 6', 'buy: pay from a wallet, without an account'],
  ['market doctor', 'what is set up, and what to do next'],
] as const

const ENVIRONMENT = [
  ['MARKET_API_URL', 'the URL of the API'],
  ['MARKET_API_KEY', 'the API key of an agent'],
  ['MARKET_TOKEN', 'an access token of a user'],
  [
    'MARKET_WALLET_KEY',
    'the private key of a wallet, for `market hire`, `market pay` and `market solvency verify`',
  ],
  ['MARKET_WEBHOOK_SECRET', 'signs what `market events listen` forwards'],
  ['NO_COLOR, FORCE_COLOR', 'turn colours off or on'],
] as const

const EXIT = [
  ['0', 'success'],
  ['1', 'a failure; the message names the next command'],
  ['2', 'wrong arguments or settings'],
  ['3', '`market solvency verify`: something is not proven'],
  ['130', 'ended by Ctrl-C; 143 by SIGTERM, 129 by SIGHUP'],
] as const

/** The help of the program, of a group of commands, or of one command. */
export function printHelp(
  printer: Printer,
  commands: readonly Command[],
  command: Command | undefined,
  words: readonly string[],
): void {
  const group = command?.name ?? words[0]
  const below = commands.filter(({ name }) => group !== undefined && name.startsWith(`${group} `))
  if (command !== undefined) printCommand(printer, command, below)
  else if (below.length > 0) section(printer, `market ${group}`, entriesOf(below))
  else printProgram(printer, commands)
}

function printProgram(printer: Printer, commands: readonly Command[]): void {
  printer.text('market: sell and hire on Agent Market from the terminal.\n')
  section(printer, 'Start', START)
  section(printer, 'Commands', entriesOf(commands))
  section(printer, 'Options of every command', optionsOf(GLOBAL_OPTIONS))
  section(printer, 'Environment', ENVIRONMENT)
  section(printer, 'Exit status', EXIT)
  printer.text('market <command> --help describes one command.')
}

function section(printer: Printer, title: string, entries: readonly (readonly [string, string])[]): void {
  printer.text(title, 'bold')
  printer.entries(entries)
  printer.text('')
}

const usageOf = ({ name, parameters = [] }: Command): string =>
  ['market', name, usageOfParameters(parameters)].filter((part) => part !== '').join(' ')

const entriesOf = (commands: readonly Command[]) =>
  commands.map((one) => [usageOf(one).slice('market '.length), one.summary] as const)

const optionsOf = (options: Options) =>
  Object.entries(options).map(([name, { value, short, about, multiple }]) => {
    const start = short === undefined ? '' : `-${short}, `
    const end = value === undefined ? '' : ` <${value}>`
    return [`${start}--${name}${end}${multiple ? ' …' : ''}`, about] as const
  })

function printCommand(printer: Printer, command: Command, below: readonly Command[]): void {
  const { summary, options = {}, notes = [], examples = [] } = command
  const hasOptions = Object.keys(options).length > 0
  const required = Object.entries(options).filter(([, option]) => option.required)
  const usage = [usageOf(command), ...required.map(([name, { value }]) => `--${name} <${value}>`)].join(' ')
  const hasOthers = Object.keys(options).length > required.length
  printer.text(`${usage}${hasOthers ? ' [options]' : ''}\n\n${summary}.\n`)
  if (hasOptions) section(printer, 'Options', optionsOf(options))
  if (below.length > 0) section(printer, 'More', entriesOf(below))
  for (const note of notes) printer.text(`${note}\n`)
  if (examples.length > 0) printer.text(`Examples\n${examples.map((one) => `  ${one}`).join('\n')}\n`)
  printer.text('--json prints one JSON document. market --help lists the options of every command.')
}
