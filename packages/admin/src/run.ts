import { cleanJson, cleanText } from '@market/cli/src/terminal/clean-text.ts'
import type { Operation } from '@market/contract/define'
import { describeOperation, findOperation, inputOf } from '@market/contract/operation-fields'
import type { OperationId } from '@market/contract/operations'
import { CallError, callOperation, operatorOperations } from './call-api.ts'
import { type Command, parseCommand, UsageError } from './command.ts'
import { LoginError, loginByDevice } from './device-login.ts'
import { HELP, operationsHelp } from './help.ts'
import { alignColumns, printOverview } from './print-overview.ts'
import { readLoginSettings, readSettings, SettingsError } from './settings.ts'
import { deleteLogin, saveLogin, TokenFileError } from './token-file.ts'

export interface Terminal {
  readonly out: (text: string) => void
  readonly error: (text: string) => void
}

type Environment = Readonly<Record<string, string | undefined>>

type Print = Terminal['out']

/** Names, reasons and messages are texts of others, which could move the cursor or hide lines. */
// fix: admin-clean-text
const cleaned =
  (print: Print): Print =>
  (text) =>
    print(cleanText(text))

/** Runs one command and returns the exit status: 0, 1 after a failure, 2 for wrong arguments or settings. */
export async function run(
  args: readonly string[],
  environment: Environment,
  terminal: Terminal,
): Promise<0 | 1 | 2> {
  const [out, error] = [cleaned(terminal.out), cleaned(terminal.error)]
  try {
    out(await resultOf(parseCommand(args), environment, out))
    return 0
  } catch (problem) {
    if (problem instanceof UsageError || problem instanceof SettingsError) {
      error(`${problem.message}\n`)
      return 2
    }
    const isExpected = [CallError, LoginError, TokenFileError].some((kind) => problem instanceof kind)
    error(isExpected && problem instanceof Error ? `${problem.message}\n` : `${String(problem)}\n`)
    return 1
  }
}

/** The text that the command prints at its end. */
async function resultOf(command: Command, environment: Environment, out: Terminal['out']): Promise<string> {
  if (command.kind === 'help') return HELP
  if (command.kind === 'describe') return describe(command.operation)
  const settings = readSettings(environment)
  switch (command.kind) {
    case 'login': {
      const { accessToken, expiresAt } = await loginByDevice(
        readLoginSettings(environment),
        ({ url, code }) => out(`Open ${url}\nand confirm the code ${code}. Waiting …\n`),
      )
      const expires_at = expiresAt.toISOString()
      await saveLogin(settings.tokenFile, { api_url: settings.apiUrl, access_token: accessToken, expires_at })
      return `Logged in to ${settings.apiUrl} until ${expires_at}. Writes need a login of the last 15 minutes.\n`
    }
    case 'logout':
      await deleteLogin(settings.tokenFile)
      return 'Logged out.\n'
    case 'overview': {
      const { data } = await callOperation(settings, 'getOverview', {})
      return command.json ? json(data) : printOverview(data)
    }
    case 'switch': {
      const { kind: _kind, ...input } = command
      const { data } = await callOperation(settings, 'turnSwitch', input)
      const until =
        data.complete_at === null ? '' : ` What was signed before can be paid until ${data.complete_at}.`
      return `${data.name} is ${data.on ? 'on' : 'off'}, changed by ${data.changed_by}: ${data.reason}${until}\n`
    }
    case 'approvals': {
      const { data } = await callOperation(settings, 'listApprovals', { limit: 100 })
      if (command.json) return json(data)
      if (data.length === 0) return 'No proposal waits for a second operator.\n'
      const rows = data.map(({ id, summary, proposer, expires_at }) => [id, summary, proposer, expires_at])
      return `${alignColumns([['ID', 'WHAT', 'PROPOSED BY', 'EXPIRES'], ...rows]).join('\n')}\n`
    }
    case 'approve': {
      const { data } = await callOperation(settings, 'approveApproval', { approval_id: command.id })
      return `${data.id} is ${data.state}: ${data.summary}\n`
    }
    case 'reject': {
      const { id: approval_id, reason } = command
      const { data } = await callOperation(settings, 'rejectApproval', { approval_id, reason })
      return `${data.id} is ${data.state}: ${data.summary}\n`
    }
    case 'call': {
      const operation = operatorOperation(command.operation)
      const body = await callOperation(settings, operation.id, inputOf(operation, command.fields))
      return json(body)
    }
  }
}

const json = (value: unknown): string => `${cleanJson(value, 2)}\n`

function operatorOperation(id: string): Operation<OperationId> {
  const known = findOperation(id, operatorOperations)
  if ('found' in known) return known.found
  throw new UsageError(`${id} is not an operation for operators.${known.hint} \`call\` lists them.`)
}

const describe = (id: string | undefined): string =>
  id === undefined ? operationsHelp() : describeOperation(operatorOperation(id), 'npm run admin --')
