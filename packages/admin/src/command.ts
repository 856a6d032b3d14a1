import { parseArgs } from 'node:util'
import { closestName } from '@market/contract/closest-name'
import type { SwitchName } from '@market/contract/define'
import { splitField } from '@market/contract/operation-fields'

/** What the operator asked for. */
export type Command =
  | { readonly kind: 'help' }
  | { readonly kind: 'login' }
  | { readonly kind: 'logout' }
  | { readonly kind: 'overview'; readonly json: boolean }
  | { readonly kind: 'switch'; readonly name: SwitchName; readonly on: boolean; readonly reason: string }
  | { readonly kind: 'approvals'; readonly json: boolean }
  | { readonly kind: 'approve'; readonly id: string }
  | { readonly kind: 'reject'; readonly id: string; readonly reason: string }
  | { readonly kind: 'describe'; readonly operation: string | undefined }
  | {
      readonly kind: 'call'
      readonly operation: string
      readonly fields: readonly (readonly [string, string])[]
    }

/** Wrong arguments, as a sentence that says what to write. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const NAMES = [
  'login',
  'logout',
  'overview',
  'freeze',
  'unfreeze',
  'read-only',
  'approvals',
  'approve',
  'reject',
  'call',
]

const NETWORK_SWITCHES: Readonly<Record<string, SwitchName>> = {
  solana: 'freeze_payouts_solana',
  base: 'freeze_payouts_base',
  alt: 'freeze_payouts_alt',
}

/** Agents have wallets on Solana only. */
const SOLANA = ['solana', 'solana-mainnet']

export function parseCommand(args: readonly string[]): Command {
  const { values, positionals } = readArguments(args)
  const [name, ...rest] = positionals
  if (name === undefined || name === 'help') return { kind: 'help' }
  if (values.help) return name === 'call' ? { kind: 'describe', operation: rest[0] } : { kind: 'help' }
  const { json, reason } = values
  switch (name) {
    case 'login':
    case 'logout':
      atMost(rest, 0)
      return { kind: name }
    case 'overview':
    case 'approvals':
      atMost(rest, 0)
      return { kind: name, json }
    case 'freeze':
    case 'unfreeze':
      atMost(rest, 2)
      return { kind: 'switch', name: frozen(rest), on: name === 'freeze', reason: required(reason) }
    case 'read-only': {
      const [state] = atMost(rest, 1)
      if (state !== 'on' && state !== 'off') throw new UsageError('Write `read-only on` or `read-only off`.')
      return { kind: 'switch', name: 'read_only', on: state === 'on', reason: required(reason) }
    }
    case 'approve':
      return { kind: 'approve', id: idOf(name, rest) }
    case 'reject':
      return { kind: 'reject', id: idOf(name, rest), reason: required(reason) }
    case 'call': {
      const [operation, ...fields] = rest
      if (operation === undefined) return { kind: 'describe', operation }
      return { kind: 'call', operation, fields: fields.map(fieldOf) }
    }
    default: {
      const similar = closestName(name, NAMES)
      throw new UsageError(
        `Unknown command: ${name}.${similar === undefined ? '' : ` Did you mean ${similar}?`} See --help.`,
      )
    }
  }
}

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        reason: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}. See --help.`)
  }
}

function atMost(rest: readonly string[], count: number): readonly string[] {
  if (rest.length > count) throw new UsageError(`Unknown argument: ${rest[count]}. See --help.`)
  return rest
}

function required(reason: string | undefined): string {
  if (reason === undefined)
    throw new UsageError('--reason is missing. Say why you do this; the audit log stores it.')
  return reason
}

/** The switch of `payouts`, `payouts base`, `wallets`, `venues` or `intake`. */
function frozen([what, network]: readonly string[]): SwitchName {
  if (what === 'intake' && network === undefined) return 'freeze_intake'
  if (what === 'venues' && network === undefined) return 'freeze_venues'
  if (what === 'wallets' && (network === undefined || SOLANA.includes(network)))
    return 'freeze_wallets_solana'
  if (what !== 'payouts')
    throw new UsageError('Write `payouts`, `payouts <network>`, `wallets`, `venues` or `intake`.')
  if (network === undefined) return 'freeze_payouts'
  const found = NETWORK_SWITCHES[network.replace(/-mainnet$/, '')]
  if (found === undefined) throw new UsageError(`Unknown network: ${network}. Write solana, base or alt.`)
  return found
}

function idOf(command: string, rest: readonly string[]): string {
  const [id] = atMost(rest, 1)
  if (id === undefined) throw new UsageError(`Write the id of the proposal: ${command} apr_…`)
  return id
}

function fieldOf(text: string): readonly [string, string] {
  const field = splitField(text)
  if (field === undefined) throw new UsageError(`${text} is not a field. Write field=value.`)
  return field
}
