import { setTimeout as wait } from 'node:timers/promises'
import {
  type Address,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  isHex,
  type PrivateKeyAccount,
  toHex,
} from 'viem'
import { startAnvil } from './anvil.ts'
import { manyCalls } from './contracts/many-calls.ts'
import { BASE_USDC, installUsdc, mintCall, USDC_ABI } from './evm-usdc.ts'
import { postJson } from './post-json.ts'

export interface EvmNetwork {
  readonly url: string
  readonly chainId: number
  readonly usdc: Address
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>
  /** Gives the address native coin for fees. */
  fund(address: Address, wei?: bigint): Promise<void>
  mint(to: Address, amount: bigint): Promise<Hex>
  deny(address: Address, denied: boolean): Promise<void>
  /** While USDC is paused, no transfer succeeds. */
  pause(paused: boolean): Promise<void>
  /** Sends a signed transaction. Waits for its receipt while automatic mining is on. */
  call(from: PrivateKeyAccount, to: Address, data: Hex, gas?: bigint): Promise<Hex>
  transfer(from: PrivateKeyAccount, to: Address, amount: bigint): Promise<Hex>
  /** Waits until a sent transaction is in a block. */
  included(hash: Hex): Promise<void>
  /** Makes several calls in one transaction from another account. */
  callMany(to: Address, calls: readonly Hex[]): Promise<Hex>
  deploy(bytecode: Hex): Promise<Address>
  balanceOf(address: Address): Promise<bigint>
  mine(blocks: number): Promise<void>
  /** Whether a block is mined for every transaction (the default) or only by `mine`. */
  automine(on: boolean): Promise<void>
  /** Replaces the newest blocks by empty ones. Their transactions are dropped. */
  reorg(depth: number): Promise<void>
  stop(): Promise<void>
}

interface Transaction {
  readonly to?: Address
  readonly data: Hex
  readonly gas?: Hex
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const rpcOf =
  (url: string) =>
  async (method: string, params: readonly unknown[] = []): Promise<unknown> => {
    const body: unknown = JSON.parse(
      await postJson(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })),
    )
    if (isRecord(body) && 'result' in body) return body['result']
    throw new Error(`${method}: ${JSON.stringify(body)}`)
  }

const hex = (value: unknown): Hex => {
  if (!isHex(value)) throw new Error(`the node returned ${String(value)}`)
  return value
}

const COIN = 10n ** 18n
const GWEI = 10n ** 9n
/** Fixed, because the estimate is too low when an inner call fails. */
const MUCH_GAS = toHex(2_000_000)
/** The first account of anvil, which is unlocked. */
const DEPLOYER: Address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

/** Starts a chain with USDC and Multicall3 at their addresses. A block is final eight blocks later. */
export const startEvmNetwork = async ({
  chainId,
  usdc = BASE_USDC,
  slotsInAnEpoch = 4,
  port,
}: {
  readonly chainId: number
  readonly usdc?: Address
  readonly slotsInAnEpoch?: number
  readonly port?: number
}): Promise<EvmNetwork> => {
  const node = await startAnvil({ chainId, slotsInAnEpoch, port })
  const rpc = rpcOf(node.url)
  await installUsdc(rpc, usdc)
  let mining = true
  let turn: Promise<unknown> = Promise.resolve()
  /** One after the other, so that no block is mined in the middle of a reorganization. */
  const inTurn = async (method: string, params: readonly unknown[]): Promise<void> => {
    turn = turn.catch(() => {}).then(() => rpc(method, params))
    await turn
  }

  const receiptOf = async (hash: Hex): Promise<Record<string, unknown>> => {
    for (;;) {
      const receipt = await rpc('eth_getTransactionReceipt', [hash])
      if (isRecord(receipt)) return receipt
      await wait(5)
    }
  }
  const sent = async (hash: Hex): Promise<Hex> => {
    if (mining) await receiptOf(hash)
    return hash
  }
  const byDeployer = async (transaction: Transaction): Promise<Hex> =>
    sent(hex(await rpc('eth_sendTransaction', [{ from: DEPLOYER, ...transaction }])))

  const call = async (from: PrivateKeyAccount, to: Address, data: Hex, gas = 300_000n): Promise<Hex> => {
    const nonce = Number(hexToBigInt(hex(await rpc('eth_getTransactionCount', [from.address, 'pending']))))
    const fees = { maxFeePerGas: 100n * GWEI, maxPriorityFeePerGas: GWEI }
    const bytes = await from.signTransaction({ type: 'eip1559', chainId, nonce, to, data, gas, ...fees })
    return sent(hex(await rpc('eth_sendRawTransaction', [bytes])))
  }

  return {
    url: node.url,
    chainId,
    usdc,
    rpc,
    call,
    included: async (hash) => void (await receiptOf(hash)),
    fund: async (address, wei = COIN) => void (await rpc('anvil_setBalance', [address, toHex(wei)])),
    mint: (to, amount) => byDeployer({ to: usdc, data: mintCall(to, amount) }),
    deny: async (address, denied) => {
      const data = encodeFunctionData({ abi: USDC_ABI, functionName: 'deny', args: [address, denied] })
      await byDeployer({ to: usdc, data })
    },
    pause: async (paused) => {
      const data = encodeFunctionData({ abi: USDC_ABI, functionName: paused ? 'pause' : 'unpause' })
      await byDeployer({ to: usdc, data })
    },
    transfer: (from, to, amount) =>
      call(from, usdc, encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args: [to, amount] })),
    callMany: (to, calls) => byDeployer({ data: manyCalls(to, calls), gas: MUCH_GAS }),
    deploy: async (bytecode) => {
      const data = encodeDeployData({ abi: [], bytecode })
      const receipt = await receiptOf(await byDeployer({ data }))
      return hex(receipt['contractAddress'])
    },
    balanceOf: async (address) => {
      const data = encodeFunctionData({ abi: USDC_ABI, functionName: 'balanceOf', args: [address] })
      return hexToBigInt(hex(await rpc('eth_call', [{ to: usdc, data }, 'latest'])))
    },
    mine: (blocks) => inTurn('anvil_mine', [toHex(blocks)]),
    automine: async (on) => {
      await rpc('evm_setAutomine', [on])
      mining = on
    },
    reorg: (depth) => inTurn('anvil_reorg', [depth, []]),
    stop: () => node.stop(),
  }
}
