import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { localSolanaSigner } from '@market/chains/local-signers'
import { solanaWalletSigner } from '@market/chains/solana/wallet/solana-wallet-signer'
import type { WalletIntent, WalletSigner } from '@market/core/ports/agent-wallets'
import type { PayoutOutcome, SignedTransfer } from '@market/core/ports/payout-sender'
import { createKeyPairSignerFromPrivateKeyBytes, type KeyPairSigner } from '@solana/kit'
import { type SolanaWorld, startSolanaWorld } from './solana-support.ts'

/** A blockhash is valid for 150 slots. A busy machine must be able to sign and send within them. */
const SLOT_TIME_MS = 40

export const TOKEN = {
  name: 'Pixel Painter by Market',
  symbol: 'PIXEL',
  uri: 'https://market.example/tokens/agt_1.json',
}

export interface ServerWallet {
  readonly address: string
  readonly seed: Uint8Array
  /** For transactions that the adapter never signs. */
  keys(): Promise<KeyPairSigner>
}

/** A signed transaction, with the mint that it creates. */
interface SignedOperation extends SignedTransfer {
  readonly mint: string | null
}

export interface Executed {
  readonly signed: SignedOperation
  readonly outcome: PayoutOutcome
}

export interface WalletWorld extends SolanaWorld {
  readonly wallets: WalletSigner
  serverWallet(lamports?: bigint, usdc?: bigint): Promise<ServerWallet>
  sign(wallet: ServerWallet, intent: WalletIntent, attempt?: number): Promise<SignedOperation>
  observeUntil(
    signed: readonly SignedTransfer[],
    ...kinds: readonly PayoutOutcome['kind'][]
  ): Promise<PayoutOutcome>
  /** Signs, sends and waits until the transaction is in a final block. */
  execute(wallet: ServerWallet, intent: WalletIntent): Promise<Executed>
  lamportsOf(address: string): Promise<bigint>
}

export const startWalletWorld = async (): Promise<WalletWorld> => {
  const world = await startSolanaWorld({ slotTimeMs: SLOT_TIME_MS })
  const wallets = solanaWalletSigner(world.settings)
  let count = 0
  const sign: WalletWorld['sign'] = async (wallet, intent, attempt = 1) => {
    count += 1
    const signed = await wallets.sign(wallet.seed, { id: `wop_${count}`, attempt, intent })
    return { ...signed, mint: wallets.mintOf(wallet.seed, intent.kind) }
  }
  const observeUntil: WalletWorld['observeUntil'] = async (signed, ...kinds) => {
    for (;;) {
      const outcome = await wallets.observe(signed)
      if (kinds.includes(outcome.kind)) return outcome
      await wait(SLOT_TIME_MS)
    }
  }
  return {
    ...world,
    wallets,
    async serverWallet(lamports = 1_000_000_000n, usdc = 0n) {
      const seed = Uint8Array.from(randomBytes(32))
      const { address } = await localSolanaSigner(seed)
      if (lamports > 0n) await world.chain.fundSol(address, lamports)
      if (usdc > 0n) await world.usdc.fund(address, usdc)
      return { address, seed, keys: () => createKeyPairSignerFromPrivateKeyBytes(seed) }
    },
    sign,
    observeUntil,
    async execute(wallet, intent) {
      const signed = await sign(wallet, intent)
      await wallets.send(signed)
      return { signed, outcome: await observeUntil([signed], 'final', 'failed') }
    },
    lamportsOf: async (address) => (await wallets.balances(address)).lamports,
  }
}
