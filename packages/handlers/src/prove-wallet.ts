import type { Operation } from '@market/contract/define'
import type { Context } from '@market/core/context'
import type { Wallet, WalletChain } from '@market/core/ports/signatures'
import { ApiError } from '@market/kernel/api-error'
import type { Call, WalletFields } from './call.ts'
import type { SingleUse } from './caller.ts'

const SESSION = 'session'

/** Checks a wallet's signature over the text that belongs to this very call. */
export async function proveWallet(
  ports: Pick<Context, 'signatures' | 'clock'>,
  call: Call,
  ownAgent: string | undefined,
): Promise<{ wallet: Wallet; singleUse?: SingleUse }> {
  const fields = call.credentials.wallet
  if (fields === undefined) throw new Error('a wallet was shown, or this is not called')
  const { wallet, signature, signedAtMs } = readWallet(ports, fields)
  const purpose = purposeOf(call.operation, call.input, ownAgent)
  await ports.signatures.verify({ wallet, signature, signedAtMs }, purpose, ports.clock.now())
  return purpose === SESSION ? { wallet } : { wallet, singleUse: { wallet, purpose, signedAtMs } }
}

/** `{field}` is filled from the request in NFC, the form GET /api/auth/message writes too. */
function purposeOf(operation: Operation, input: Call['input'], ownAgent: string | undefined): string {
  return (operation.purpose ?? SESSION).replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = field === 'me' ? ownAgent : input[field]
    return typeof value === 'string' ? value.normalize('NFC') : ''
  })
}

/** The fields of a wallet's signature in their own types; nothing is proven by that yet. */
export function readWallet(ports: Pick<Context, 'signatures'>, fields: WalletFields) {
  const { wallet, signature, chain } = fields
  const signedAtMs = typeof fields.signedAtMs === 'string' ? digits(fields.signedAtMs) : fields.signedAtMs
  if (chain !== undefined && chain !== 'solana' && chain !== 'base')
    throw bad('wallet_chain', 'must be solana or base')
  if (typeof wallet !== 'string' || wallet.length > 64) throw bad('wallet', 'must be a wallet address')
  if (typeof signature !== 'string' || signature.length > 20_000)
    throw bad('wallet_sig', 'must be a signature')
  if (typeof signedAtMs !== 'number')
    throw bad('wallet_sig_ts', 'must be the Unix milliseconds that were signed')
  const parsed = ports.signatures.parseWallet(wallet, chain as WalletChain | undefined)
  if (parsed === undefined)
    throw bad('wallet', 'must be a wallet that can sign, on the chain named beside it')
  return { wallet: parsed, signature, signedAtMs }
}

const digits = (text: string): number | undefined => (/^\d{1,16}$/.test(text) ? Number(text) : undefined)

const bad = (path: string, message: string): ApiError =>
  new ApiError('invalid', `${path} ${message}`, { code: 'bad_wallet_fields', details: [{ path, message }] })
