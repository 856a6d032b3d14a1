import { setTimeout as wait } from 'node:timers/promises'
import type { Network } from '@market/kernel/network'
import { type EvmNetwork, startEvmNetwork } from '@market/testing/evm-network'
import { mintCall, USDC_ABI } from '@market/testing/evm-usdc'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { type Address, encodeFunctionData, type Hex, hexToBigInt, keccak256 } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { payWith } from '../../support/stock-client.ts'
import { type Buyer, INITIAL_BALANCE, type Prepared, type TestChain } from './test-chain.ts'

const BLOCK_MS = 100
const SLOTS_IN_AN_EPOCH = 8
const MINTS_AT_ONCE = 50
const FEES = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n, gas: 100_000n }

export interface EvmTestChain extends TestChain {
  readonly chain: EvmNetwork
  /** So many blocks later a block is final: two epochs. */
  readonly finalAfter: number
  fund(owners: readonly Address[]): Promise<void>
  /** Removes the newest blocks with their transactions, which only their senders can send again. */
  reorg(depth: number): Promise<void>
}

/** A real EVM chain that makes a block every tenth of a second. */
export async function startEvmTestChain(
  network: Network,
  settings: { chainId: number; usdc?: Address },
  slotsInAnEpoch = SLOTS_IN_AN_EPOCH,
): Promise<EvmTestChain> {
  const chain = await startEvmNetwork({ ...settings, slotsInAnEpoch })
  const finalAfter = 2 * slotsInAnEpoch
  await chain.automine(false)
  const end = new AbortController()
  // One after the other: a node that mines while its blocks are taken back may lose its state.
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work)
    turn = done.catch(() => undefined)
    return done
  }
  const mine = (blocks: number) => inTurn(() => chain.mine(blocks))
  const mining = (async () => {
    while (!end.signal.aborted) {
      await mine(1)
      await wait(BLOCK_MS)
    }
  })()
  return {
    network,
    kind: 'evm',
    url: chain.url,
    chain,
    finalAfter,
    passTime: (seconds) => inTurn(() => chain.rpc('evm_increaseTime', [seconds])),
    async newAccount() {
      const key = generatePrivateKey()
      const address = privateKeyToAddress(key)
      await chain.fund(address)
      return { address, key: key.slice(2) }
    },
    async fund(owners) {
      for (let first = 0; first < owners.length; first += MINTS_AT_ONCE) {
        const some = owners.slice(first, first + MINTS_AT_ONCE)
        await chain.callMany(
          chain.usdc,
          some.map((owner) => mintCall(owner, INITIAL_BALANCE)),
        )
        await mine(1)
        await Promise.all(some.map((owner) => chain.fund(owner)))
      }
      // No reorganisation reaches what buyers begin with.
      await mine(finalAfter + 1)
    },
    reorg: (depth) => inTurn(() => chain.reorg(depth)),
    balanceOf: (owner) => chain.balanceOf(owner as Address),
    async isMined(reference) {
      const receipt = (await chain.rpc('eth_getTransactionReceipt', [reference])) as {
        status?: string
      } | null
      return receipt?.status === '0x1'
    },
    stop: async () => {
      end.abort()
      await mining
      await chain.stop()
    },
  }
}

/** Wallets with coin and USDC on every given EVM chain. */
export async function newEvmBuyers(testChains: readonly EvmTestChain[], count: number): Promise<Buyer[]> {
  const accounts = Array.from({ length: count }, () => privateKeyToAccount(generatePrivateKey()))
  await Promise.all(testChains.map((testChain) => testChain.fund(accounts.map(({ address }) => address))))
  return accounts.map((account) => ({
    address: account.address,
    key: account.address.toLowerCase(),
    networks: testChains.map(({ network }) => network),
    sign: (message: string) => account.signMessage({ message }),
    authorize: (network, required) => {
      const testChain = testChains.find((one) => one.network === network)
      return payWith(
        { network: `eip155:${testChain?.chain.chainId}`, client: new ExactEvmScheme(account) },
        required,
      )
    },
    async prepare(network, to, amount): Promise<Prepared> {
      const testChain = testChains.find((one) => one.network === network)
      if (testChain === undefined) throw new Error(`no wallet on ${network}`)
      const { rpc, usdc, chainId } = testChain.chain
      const args = [to as Address, amount] as const
      const data = encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args })
      const count = (await rpc('eth_getTransactionCount', [account.address, 'pending'])) as Hex
      const nonce = Number(hexToBigInt(count))
      const bytes = await account.signTransaction({
        type: 'eip1559',
        chainId,
        nonce,
        to: usdc,
        data,
        ...FEES,
      })
      return {
        network,
        amount,
        reference: keccak256(bytes),
        send: async () => void (await rpc('eth_sendRawTransaction', [bytes])),
      }
    },
  }))
}
