import { MarketError } from '@market/sdk'
import { COMMANDS } from './commands.ts'
import { describeError } from './describe-error.ts'
import { printHelp } from './help.ts'
import { type Parsed, parseArguments } from './parse-arguments.ts'
import { type Environment, openSession } from './session.ts'
import { statusOf, untilAborted } from './terminal/interruption.ts'
import { type Printer, printerOf } from './terminal/printer.ts'
import type { Terminal } from './terminal/terminal.ts'
import { UsageError } from './usage-error.ts'
import { VERSION } from './version.ts'

/**
 * Runs one command and returns the exit status: 0, 1 after a failure, 2 for wrong arguments or settings, 3 for "not proven", or
 * that of a signal.
 */
export async function run(
  args: readonly string[],
  environment: Environment,
  { terminal, signal }: { readonly terminal: Terminal; readonly signal: AbortSignal },
): Promise<number> {
  const printer = printerOf(terminal, environment)
  let parsed: Parsed | undefined
  try {
    parsed = parseArguments(args, COMMANDS)
    return await runCommand(parsed, environment, { terminal, printer, signal })
  } catch (error) {
    if (signal.aborted) return statusOf(signal)
    reportError(printer, error, { parsed, isJson: args.includes('--json') })
    return error instanceof UsageError ? 2 : 1
  }
}

async function runCommand(
  { command, globals, call }: Parsed,
  environment: Environment,
  parts: { readonly terminal: Terminal; readonly printer: Printer; readonly signal: AbortSignal },
): Promise<number> {
  const { printer } = parts
  if (globals.version) {
    if (globals.json) printer.json({ version: VERSION, node: process.version })
    else printer.text(VERSION)
    return 0
  }
  if (globals.help && command?.describe !== undefined && call.parameters.length > 0) {
    printer.text(await command.describe(call.parameters))
    return 0
  }
  if (globals.help || command === undefined) {
    printHelp(printer, COMMANDS, command, call.parameters)
    return 0
  }
  const session = await openSession(globals, environment, parts)
  const running = command.run(call, session)
  const result = await (command.endsItself ? running : untilAborted(running, parts.signal))
  if (result === undefined) return 0
  if (session.isJson) printer.json(result.json)
  else result.print(printer)
  return result.status ?? 0
}

interface Call {
  /** Undefined when the arguments were wrong. */
  readonly parsed: Parsed | undefined
  readonly isJson: boolean
}

function reportError(printer: Printer, error: unknown, { parsed, isJson }: Call): void {
  const { next: pattern, ...rest } = describeError(error)
  const described = { ...rest, next: pattern && fillNext(pattern, parsed) }
  if (isJson) {
    printer.errorJson({ error: described })
    return
  }
  const { code, message, next } = described
  const shown: [string, string][] = []
  if (error instanceof MarketError) {
    for (const { path, message: problem } of error.details)
      if (!message.includes(problem)) shown.push(['field', `${path}: ${problem}`])
    if (error.retryAfterSeconds !== undefined)
      shown.push(['wait', `${error.retryAfterSeconds} seconds before you try again`])
    shown.push(['code', `${error.status === 0 ? '' : `${error.status} `}${code}`])
    if (error.requestId !== undefined) shown.push(['id', `request ${error.requestId}`])
  }
  if (next !== undefined) shown.push(['next', next])
  printer.error(message, shown)
}

/** `market pay <order> --tx <hash>` with the order and the transaction that this command was about. */
function fillNext(pattern: string, parsed: Parsed | undefined): string {
  const [name = ''] = parsed?.command?.parameters ?? []
  const [value] = parsed?.call.parameters ?? []
  const about = value === undefined || name === '' ? pattern : pattern.replace(`<${name}>`, () => value)
  const tx = parsed?.call.values['tx']
  return typeof tx === 'string' ? about.replace('<hash>', () => tx) : about
}
