import { setTimeout as wait } from 'node:timers/promises'
import { ApiError } from '@market/kernel/api-error'
import { type EvmNetwork, startEvmNetwork } from '@market/testing/evm-network'
import { deployVault } from '@market/testing/evm-venues'
import { type Address, getAddress, isAddress, type PrivateKeyAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { LocalNetwork, LocalVenues } from './network.ts'

/** A block is final after eight more blocks. */
const BLOCK_MS = 250
const POLL_MS = 50
const COIN = 10n ** 18n

interface EvmChainSettings {
  readonly chainId: number
  readonly usdc: Address
  /** A free one is used where it is taken. */
  readonly port: number
  readonly hasVenues?: boolean
}

/** Starts an EVM chain with USDC. It mines a block for every transaction, and one every 250 ms. */
export async function startEvm(settings: EvmChainSettings): Promise<LocalNetwork> {
  // The port may be taken, by another run for example.
  const chain = await startEvmNetwork(settings).catch(() => startEvmNetwork({ ...settings, port: 0 }))
  const treasuryKey = generatePrivateKey()
  const treasury = privateKeyToAccount(treasuryKey).address
  const gasKey = generatePrivateKey()
  const gasAccount = privateKeyToAccount(gasKey).address
  const payoutGasKey = generatePrivateKey()
  for (const account of [gasAccount, privateKeyToAccount(payoutGasKey).address])
    await chain.fund(account, 1_000n * COIN)
  const venues = settings.hasVenues ? await deployVenues(chain) : undefined
  const wallets = new Map<Address, PrivateKeyAccount>()

  const stopped = new AbortController()
  let makesBlocks = true
  const mining = (async () => {
    while (!stopped.signal.aborted) {
      if (makesBlocks) await chain.mine(1)
      await wait(BLOCK_MS)
    }
  })()

  const newAccount = (key = generatePrivateKey()): PrivateKeyAccount => {
    const account = privateKeyToAccount(key)
    wallets.set(account.address, account)
    return account
  }
  const fund: LocalNetwork['fund'] = async (to, { usdc, native }) => {
    const address = addressOf(to)
    const balance = BigInt(String(await chain.rpc('eth_getBalance', [address, 'latest'])))
    if (native > 0n) await chain.fund(address, balance + native)
    if (usdc > 0n) await chain.mint(address, usdc)
  }

  return {
    addresses: { rpc: chain.url, usdc: settings.usdc, treasury },
    treasuryKey: treasuryKey.slice(2),
    gas: { account: gasAccount, key: gasKey.slice(2) },
    payoutGasKey: payoutGasKey.slice(2),
    identity: String(settings.chainId),
    venues,
    newWallet: async () => {
      const private_key = generatePrivateKey()
      return { address: newAccount(private_key).address, private_key }
    },
    fund,
    transfer: async (to, amount, from) => {
      const payee = addressOf(to)
      const payer = from === undefined ? newAccount() : wallets.get(addressOf(from))
      if (payer === undefined) throw unknownWallet(from)
      await fund(payer.address, { native: COIN, usdc: amount })
      const tx = await chain.transfer(payer, payee, amount)
      const receipt = (await chain.rpc('eth_getTransactionReceipt', [tx])) as { readonly status: string }
      if (receipt.status !== '0x1') throw new ApiError('invalid', `USDC cannot be sent to ${to}`)
      return { tx, payer: payer.address }
    },
    makeBlocks: async (on) => {
      makesBlocks = on
      await chain.automine(on)
    },
    untilBlockAt: async (at) => {
      // A chain that stands still has no newer block.
      while (makesBlocks) {
        const block = (await chain.rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
        if (Number(block.timestamp) * 1_000 >= at.getTime()) return
        await wait(POLL_MS)
      }
    },
    stop: async () => {
      stopped.abort()
      await mining
      await chain.stop()
    },
  }
}

/** One vault of each kind. */
async function deployVenues(chain: EvmNetwork): Promise<LocalVenues> {
  const key = generatePrivateKey()
  const wallet = privateKeyToAccount(key).address
  await chain.fund(wallet, 1_000n * COIN)
  const [lending, liquidity] = [await deployVault(chain, 'lending'), await deployVault(chain, 'liquidity')]
  const common = { venue: 'sample', network: 'base-mainnet' }
  return {
    wallet,
    key: key.slice(2),
    markets: [
      { ...common, market: 'lending', kind: 'lending', label: 'Sample lending', vault: lending.address },
      {
        ...common,
        market: 'liquidity',
        kind: 'liquidity_provision',
        label: 'Sample liquidity',
        vault: liquidity.address,
      },
    ],
  }
}

function addressOf(text: string): Address {
  if (!isAddress(text)) throw new ApiError('invalid', `${text} is not an EVM address`)
  return getAddress(text)
}

export const unknownWallet = (from: string | undefined): ApiError =>
  new ApiError(
    'invalid',
    `${from} is not a wallet of this server. Leave "from" out, or create a wallet with POST /wallets.`,
  )
