import { readFile, stat } from 'node:fs/promises'
import { evmPayer, evmWallet, type Payer, solanaPayer, solanaWallet, type WalletSigner } from '@market/sdk'
import type { Environment } from '../session.ts'
import { CommandError, UsageError } from '../usage-error.ts'

const HOW = 'Set MARKET_WALLET_KEY, or pass --wallet-file with a file of mode 0600.'

/** Who pays. */
export async function readPayer(
  file: string | undefined,
  environment: Environment,
  solanaRpcUrl: string | undefined,
): Promise<Payer> {
  const wallet = await readWallet(file, environment)
  if (wallet === undefined)
    throw new UsageError(
      `The private key of a wallet is missing. ${HOW}`,
      'market hire <service> --brief <text> --account',
    )
  if ('account' in wallet) return evmPayer(wallet.account)
  return solanaPayer(wallet.keypair, solanaRpcUrl === undefined ? {} : { rpcUrl: solanaRpcUrl })
}

/** Who signs requests; undefined without a wallet. */
export async function readSigner(
  file: string | undefined,
  environment: Environment,
): Promise<WalletSigner | undefined> {
  const wallet = await readWallet(file, environment)
  if (wallet === undefined) return undefined
  return 'account' in wallet ? evmWallet(wallet.account) : await solanaWallet(wallet.keypair)
}

/**
 * The wallet of `--wallet-file`, else of the environment: an EVM private key in hex, or a Solana keypair as in its file or in
 * base58. Errors never contain it.
 */
async function readWallet(file: string | undefined, { MARKET_WALLET_KEY: key = '' }: Environment) {
  const [name, text] = file === undefined ? ['MARKET_WALLET_KEY', key] : [file, await readSecret(file)]
  const secret = text.trim()
  if (secret === '') return undefined
  if (/^(0x)?[0-9a-fA-F]{64}$/.test(secret)) {
    const { privateKeyToAccount } = await import('viem/accounts')
    return { account: privateKeyToAccount(`0x${secret.replace(/^0x/, '')}`) }
  }
  const keypair = solanaKeypair(secret)
  if (keypair === undefined)
    throw new UsageError(
      `${name} is neither an EVM private key (64 hex digits) nor a Solana keypair (64 numbers, or base58).`,
    )
  return { keypair }
}

function solanaKeypair(secret: string): readonly number[] | string | undefined {
  if (/^[1-9A-HJ-NP-Za-km-z]{80,90}$/.test(secret)) return secret
  try {
    const bytes: unknown = JSON.parse(secret)
    const isKeypair =
      Array.isArray(bytes) &&
      bytes.length === 64 &&
      bytes.every((one) => Number.isInteger(one) && one >= 0 && one < 256)
    return isKeypair ? bytes : undefined
  } catch {
    return undefined
  }
}

async function readSecret(path: string): Promise<string> {
  try {
    const { mode } = await stat(path)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new CommandError(
        'wallet_file_readable',
        `${path} can be read by other users.`,
        `chmod 600 ${path}`,
      )
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError('wallet_file_missing', `${path} cannot be read. ${HOW}`)
  }
}
