import type { Network } from '@market/kernel/network'
import type { EvmNetwork } from '@market/testing/evm-network'
import {
  generateKeyPairSigner,
  getBase58Decoder,
  type Instruction,
  type KeyPairSigner,
  signBytes,
} from '@solana/kit'
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo'
import type { Network as Caip2 } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { type SchemeRegistration, wrapFetchWithPayment, type x402Client } from '@x402/fetch'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { type Address, encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { SolanaWorld } from '../chains/solana-support.ts'
import { clientOf } from '../support/stock-client.ts'

const RICH = 1_000_000_000n
const SOL = 1_000_000_000n

/** A wallet with USDC and no native coin, and the unmodified x402 client that pays with it. */
export interface Buyer {
  readonly network: Network
  readonly address: string
  readonly scheme: SchemeRegistration
  readonly stock: x402Client
  readonly paying: typeof fetch
  sign(message: string): Promise<string>
  /** Sends a transfer to the treasury, with native coin for the fee and an optional reference. */
  send(micros: bigint, attached?: string): Promise<string>
  usdc(): Promise<bigint>
  /** Its balance of the native coin. */
  coin(): Promise<bigint>
}

const withClient = (scheme: SchemeRegistration) => {
  const stock = clientOf(scheme)
  return { scheme, stock, paying: wrapFetchWithPayment(fetch, stock) as typeof fetch }
}

export interface EvmBuyer extends Buyer {
  readonly account: PrivateKeyAccount
}

export async function evmBuyer(chain: EvmNetwork, network: Network, treasury: Address): Promise<EvmBuyer> {
  const account = privateKeyToAccount(generatePrivateKey())
  await chain.mint(account.address, RICH)
  return {
    network,
    account,
    address: account.address,
    ...withClient({ network: `eip155:${chain.chainId}`, client: new ExactEvmScheme(account) }),
    sign: (message) => account.signMessage({ message }),
    send: async (micros, attached = '') => {
      await chain.fund(account.address)
      const args = [treasury, micros] as const
      const call = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
      const bytes = Buffer.from(attached, 'base64url').toString('hex')
      return chain.call(account, chain.usdc, `${call}${bytes}` as Hex)
    },
    usdc: () => chain.balanceOf(account.address),
    coin: async () => BigInt(String(await chain.rpc('eth_getBalance', [account.address, 'latest']))),
  }
}

export interface SolanaBuyer extends Buyer {
  readonly signer: KeyPairSigner
}

export async function solanaBuyer(solana: SolanaWorld, caip2: Caip2, treasury: string): Promise<SolanaBuyer> {
  const signer = await generateKeyPairSigner()
  await solana.usdc.fund(signer.address, RICH)
  const memo = (text: string): Instruction =>
    getAddMemoInstruction({ memo: text }, { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 })
  return {
    network: 'solana-mainnet',
    signer,
    address: signer.address,
    ...withClient({
      network: caip2,
      client: new ExactSvmScheme(signer, { rpcUrl: solana.chain.url }),
    }),
    sign: async (message) =>
      getBase58Decoder().decode(
        await signBytes(signer.keyPair.privateKey, new TextEncoder().encode(message)),
      ),
    send: async (micros, attached) => {
      await solana.chain.fundSol(signer.address, SOL)
      const transfer = await solana.transfer(signer, treasury, micros)
      return solana.run(signer, [transfer, ...(attached === undefined ? [] : [memo(attached)])])
    },
    usdc: () => solana.usdc.balanceOf(signer.address),
    coin: async () => (await solana.rpc.getBalance(signer.address).send()).value,
  }
}
