import {
  type Address,
  type AddressesByLookupTableAddress,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compressTransactionMessageUsingAddressLookupTables,
  createNoopSigner,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getTransactionDecoder,
  type Instruction,
  type KeyPairSigner,
  partiallySignTransaction,
  partiallySignTransactionMessageWithSigners,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import {
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitPriceInstruction,
} from '@solana-program/compute-budget'
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'

/** Lives as long as no chain is asked. */
export const NO_LIFETIME = {
  blockhash: 'EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N' as Blockhash,
  lastValidBlockHeight: 1_000n,
}

export const tokenAccountOf = async (owner: string, mint: string): Promise<Address> =>
  (
    await findAssociatedTokenPda({
      mint: address(mint),
      owner: address(owner),
      tokenProgram: TOKEN_PROGRAM_ADDRESS,
    })
  )[0]

export interface SwapParts {
  readonly taker: string
  readonly maker: KeyPairSigner
  readonly mint: string
  readonly amount: bigint
  readonly lamports: bigint
}

/** The instructions of an honest swap, by what they do. */
export async function swapInstructions({ taker, maker, mint, amount, lamports }: SwapParts) {
  const [source, destination] = await Promise.all([
    tokenAccountOf(taker, mint),
    tokenAccountOf(maker.address, mint),
  ])
  return {
    limit: getSetComputeUnitLimitInstruction({ units: 60_000 }) as Instruction,
    price: getSetComputeUnitPriceInstruction({ microLamports: 1_000n }) as Instruction,
    open: getCreateAssociatedTokenIdempotentInstruction({
      payer: maker,
      ata: destination,
      owner: maker.address,
      mint: address(mint),
    }) as Instruction,
    payment: getTransferCheckedInstruction({
      source,
      mint: address(mint),
      destination,
      authority: createNoopSigner(address(taker)),
      amount,
      decimals: 6,
    }) as Instruction,
    output: getTransferSolInstruction({
      source: maker,
      destination: address(taker),
      amount: lamports,
    }) as Instruction,
    memo: getAddMemoInstruction(
      { memo: `swap ${crypto.randomUUID()}` },
      { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 },
    ) as Instruction,
  }
}

interface BuildOptions {
  readonly feePayer: string
  readonly lifetime?: typeof NO_LIFETIME
  readonly legacy?: boolean
  readonly tables?: AddressesByLookupTableAddress
}

/** The transaction in base64, signed by every signer of its instructions whose key is known. */
export async function buildSwap(
  instructions: readonly Instruction[],
  { feePayer, lifetime = NO_LIFETIME, legacy = false, tables = {} }: BuildOptions,
): Promise<string> {
  const signed = legacy
    ? await partiallySignTransactionMessageWithSigners(
        pipe(
          createTransactionMessage({ version: 'legacy' }),
          (message) => setTransactionMessageFeePayer(address(feePayer), message),
          (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
          (message) => appendTransactionMessageInstructions(instructions, message),
        ),
      )
    : await partiallySignTransactionMessageWithSigners(
        pipe(
          createTransactionMessage({ version: 0 }),
          (message) => setTransactionMessageFeePayer(address(feePayer), message),
          (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
          (message) => appendTransactionMessageInstructions(instructions, message),
          (message) => compressTransactionMessageUsingAddressLookupTables(message, tables),
        ),
      )
  return getBase64EncodedWireTransaction(signed)
}

/** Version 1 sets the fee in the message instead of in instructions. */
export async function buildVersion1(instructions: readonly Instruction[], feePayer: string): Promise<string> {
  const signed = await partiallySignTransactionMessageWithSigners(
    pipe(
      createTransactionMessage({ version: 1 }),
      (message) => setTransactionMessageFeePayer(address(feePayer), message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(NO_LIFETIME, message),
      (message) => appendTransactionMessageInstructions(instructions, message),
    ),
  )
  return getBase64EncodedWireTransaction(signed)
}

const decoded = (base64: string) => getTransactionDecoder().decode(getBase64Encoder().encode(base64))

/** What a wallet does with a transaction that it gets: adds its signature. */
export async function signSwap(base64: string, signer: KeyPairSigner): Promise<string> {
  return getBase64EncodedWireTransaction(await partiallySignTransaction([signer.keyPair], decoded(base64)))
}

/** The same transaction with other bytes instead of one signature. */
export function withSignature(base64: string, signer: string, bytes: Uint8Array | null): string {
  const transaction = decoded(base64)
  const signatures = { ...transaction.signatures, [signer]: bytes } as typeof transaction.signatures
  return getBase64EncodedWireTransaction({ ...transaction, signatures })
}
