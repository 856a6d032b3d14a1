import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { localSolanaSigner } from '@market/chains/local-signers'
import type { SolanaSettings } from '@market/chains/solana/settings'
import { ZERO } from '@market/kernel/money'
import { installSolanaUsdc, type SolanaUsdc } from '@market/testing/solana-usdc'
import { type Surfpool, startSurfpool } from '@market/testing/surfpool'
import {
  type Address,
  type AddressesByLookupTableAddress,
  address,
  appendTransactionMessageInstructions,
  compressTransactionMessageUsingAddressLookupTables,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  type Rpc,
  type Signature,
  type SolanaRpcApi,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token'

const SOL = 1_000_000_000n

interface SendOptions {
  readonly legacy?: boolean
  readonly tables?: AddressesByLookupTableAddress
}

const build = async (
  rpc: Rpc<SolanaRpcApi>,
  feePayer: KeyPairSigner,
  instructions: readonly Instruction[],
  { legacy = false, tables = {} }: SendOptions,
) => {
  const { value } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
  if (legacy) {
    return signTransactionMessageWithSigners(
      pipe(
        createTransactionMessage({ version: 'legacy' }),
        (message) => setTransactionMessageFeePayerSigner(feePayer, message),
        (message) => setTransactionMessageLifetimeUsingBlockhash(value, message),
        (message) => appendTransactionMessageInstructions(instructions, message),
      ),
    )
  }
  return signTransactionMessageWithSigners(
    pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayerSigner(feePayer, message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(value, message),
      (message) => appendTransactionMessageInstructions(instructions, message),
      (message) => compressTransactionMessageUsingAddressLookupTables(message, tables),
    ),
  )
}

/** Waits until the signature has this commitment. */
const settled = async (rpc: Rpc<SolanaRpcApi>, signature: Signature, level: 'confirmed' | 'finalized') => {
  for (;;) {
    const { value } = await rpc.getSignatureStatuses([signature]).send()
    const reached = value[0]?.confirmationStatus
    if (reached === 'finalized' || reached === level) return
    await wait(5)
  }
}

export interface SolanaWorld {
  readonly chain: Surfpool
  readonly rpc: Rpc<SolanaRpcApi>
  readonly usdc: SolanaUsdc
  readonly issuer: KeyPairSigner
  /** The treasury wallet with its key. */
  readonly treasury: KeyPairSigner
  readonly signer: Awaited<ReturnType<typeof localSolanaSigner>>
  readonly settings: SolanaSettings
  /** A wallet with SOL for fees and this much USDC. */
  wallet(usdc?: bigint): Promise<KeyPairSigner>
  /** A transfer between the token accounts of two wallets. The receiving account must exist. */
  transfer(
    from: KeyPairSigner,
    to: string,
    amount: bigint,
  ): Promise<ReturnType<typeof getTransferCheckedInstruction>>
  openAccount(payer: KeyPairSigner, owner: string): Promise<Instruction>
  /** Sends without waiting. */
  send(
    feePayer: KeyPairSigner,
    instructions: readonly Instruction[],
    options?: SendOptions,
  ): Promise<Signature>
  /** Sends and waits until it is confirmed. */
  run(
    feePayer: KeyPairSigner,
    instructions: readonly Instruction[],
    options?: SendOptions,
  ): Promise<Signature>
  settled(signature: Signature, level: 'confirmed' | 'finalized'): Promise<void>
  stop(): Promise<void>
}

export const startSolanaWorld = async ({ slotTimeMs = 20 } = {}): Promise<SolanaWorld> => {
  const chain = await startSurfpool({ slotTimeMs })
  const rpc = createSolanaRpc(chain.url)
  const seed = Uint8Array.from(randomBytes(32))
  const treasury = await createKeyPairSignerFromPrivateKeyBytes(seed)
  const issuer = await generateKeyPairSigner()
  const usdc = await installSolanaUsdc(chain, issuer)
  await chain.fundSol(treasury.address, 100n * SOL)
  await chain.fundSol(issuer.address, 100n * SOL)
  const account = async (owner: string): Promise<Address> => address(await usdc.accountOf(owner))

  const send: SolanaWorld['send'] = async (feePayer, instructions, options = {}) => {
    const transaction = await build(rpc, feePayer, instructions, options)
    await rpc
      .sendTransaction(getBase64EncodedWireTransaction(transaction), {
        encoding: 'base64',
        skipPreflight: true,
      })
      .send()
    return getSignatureFromTransaction(transaction)
  }
  return {
    chain,
    rpc,
    usdc,
    issuer,
    treasury,
    signer: await localSolanaSigner(seed),
    settings: {
      rpcUrls: [chain.url],
      minProviders: 1,
      genesisHash: chain.genesisHash,
      usdc: usdc.mint,
      treasury: treasury.address,
      minPayout: ZERO,
      commitment: () => 'confirmed',
      ownAddresses: [],
      // The node responds, also on a busy machine.
      timeoutMs: 60_000,
    },
    async wallet(amount = 0n) {
      const signer = await generateKeyPairSigner()
      await chain.fundSol(signer.address, 10n * SOL)
      if (amount > 0n) await usdc.fund(signer.address, amount)
      return signer
    },
    async transfer(from, to, amount) {
      const [source, destination] = await Promise.all([account(from.address), account(to)])
      const mint = address(usdc.mint)
      return getTransferCheckedInstruction({
        source,
        mint,
        destination,
        authority: from,
        amount,
        decimals: 6,
      })
    },
    async openAccount(payer, owner) {
      const ata = await account(owner)
      const mint = address(usdc.mint)
      return getCreateAssociatedTokenIdempotentInstruction({ payer, ata, owner: address(owner), mint })
    },
    send,
    async run(feePayer, instructions, options) {
      const signature = await send(feePayer, instructions, options)
      await settled(rpc, signature, 'confirmed')
      return signature
    },
    settled: (signature, level) => settled(rpc, signature, level),
    stop: () => chain.stop(),
  }
}
