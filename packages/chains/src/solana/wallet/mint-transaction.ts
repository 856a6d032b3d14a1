import type { TokenMetadata } from '@market/core/ports/agent-wallets'
import { assert } from '@market/kernel/assert'
import { type Address, address, createNoopSigner, type Instruction } from '@solana/kit'
import {
  getAllocateInstruction,
  getAssignInstruction,
  getTransferSolInstruction,
} from '@solana-program/system'
import {
  AuthorityType,
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintToInstruction,
  getSetAuthorityInstruction,
} from '@solana-program/token'
import type { SolanaRpc } from '../nodes.ts'
import { feeOf } from '../sign-payout.ts'
import type { MintPurpose } from './mint-key.ts'
import {
  initializeMetadata,
  initializeMetadataPointer,
  initializeNonTransferable,
  type MintKind,
  mintBytes,
  mintBytesWithMetadata,
  removeMetadataAuthority,
  TOKEN_2022_PROGRAM_ADDRESS,
  tokenAccountBytes,
} from './token-2022.ts'

interface MintTerms extends MintKind {
  readonly decimals: number
  /** In base units. All of it is minted to the wallet. */
  readonly supply: bigint
}

const TERMS: Readonly<Record<MintPurpose, MintTerms>> = {
  launch: { isTransferable: true, decimals: 6, supply: 10n ** 15n },
  identity: { isTransferable: false, decimals: 0, supply: 1n },
}

/** Measured: 42 000 with the longest metadata. The search for the token account's address takes 1 500 per try. */
export const MINT_COMPUTE_UNITS = 150_000
/** Of the wallet and of the mint. */
const SIGNATURES = 2

/** In bytes: 32 and 10 characters of up to 4 bytes. URLs are ASCII. The transaction must not exceed 1,232 bytes. */
const MAX_BYTES = { name: 128, symbol: 40, uri: 200 } as const

/** The longest metadata that a mint can have. */
const LONGEST: TokenMetadata = {
  name: 'n'.repeat(MAX_BYTES.name),
  symbol: 's'.repeat(MAX_BYTES.symbol),
  uri: 'u'.repeat(MAX_BYTES.uri),
}

const assertFits = (token: TokenMetadata): void => {
  for (const field of ['name', 'symbol', 'uri'] as const) {
    assert(Buffer.byteLength(token[field]) <= MAX_BYTES[field], `the ${field} of a token is not too long`)
  }
}

const rentOf = (rpc: SolanaRpc, bytes: number): Promise<bigint> =>
  rpc.getMinimumBalanceForRentExemption(BigInt(bytes)).send()

/** What a mint costs the wallet. Without metadata: the most that it can cost. */
export const mintCost = async (
  rpc: SolanaRpc,
  purpose: MintPurpose,
  microLamportsPerUnit: bigint,
  token: TokenMetadata = LONGEST,
): Promise<bigint> => {
  const terms = TERMS[purpose]
  const [mintRent, accountRent] = await Promise.all([
    rentOf(rpc, mintBytesWithMetadata(terms, token)),
    rentOf(rpc, tokenAccountBytes(terms)),
  ])
  return mintRent + accountRent + feeOf(SIGNATURES, MINT_COMPUTE_UNITS, microLamportsPerUnit)
}

/**
 * System's CreateAccount fails when the address already has lamports. Anyone could send some to a mint's address that a
 * failed attempt made public, and prevent the launch for ever. These instructions fail only when the account is in use.
 */
const createAccount = (wallet: Address, mint: Address, rent: bigint, bytes: number): Instruction[] => {
  const newAccount = createNoopSigner(mint)
  return [
    getTransferSolInstruction({ source: createNoopSigner(wallet), destination: mint, amount: rent }),
    getAllocateInstruction({ newAccount, space: BigInt(bytes) }),
    getAssignInstruction({ account: newAccount, programAddress: TOKEN_2022_PROGRAM_ADDRESS }),
  ]
}

const TOKEN_2022 = { programAddress: TOKEN_2022_PROGRAM_ADDRESS }

/** Mints the whole supply to the wallet. Afterwards nobody can mint, freeze or change the metadata. */
export const mintInstructions = async (
  rpc: SolanaRpc,
  purpose: MintPurpose,
  accounts: { readonly wallet: string; readonly mint: string },
  token: TokenMetadata,
): Promise<Instruction[]> => {
  assertFits(token)
  const terms = TERMS[purpose]
  const [wallet, mint] = [address(accounts.wallet), address(accounts.mint)]
  const owner = createNoopSigner(wallet)
  const rent = await rentOf(rpc, mintBytesWithMetadata(terms, token))
  const tokenProgram = TOKEN_2022_PROGRAM_ADDRESS
  const [ata] = await findAssociatedTokenPda({ owner: wallet, mint, tokenProgram })
  return [
    ...createAccount(wallet, mint, rent, mintBytes(terms)),
    ...(terms.isTransferable ? [] : [initializeNonTransferable(mint)]),
    initializeMetadataPointer(mint),
    getInitializeMint2Instruction(
      { mint, decimals: terms.decimals, mintAuthority: wallet, freezeAuthority: null },
      TOKEN_2022,
    ),
    initializeMetadata(mint, wallet, token),
    removeMetadataAuthority(mint, wallet),
    getCreateAssociatedTokenIdempotentInstruction({ payer: owner, ata, owner: wallet, mint, tokenProgram }),
    getMintToInstruction({ mint, token: ata, mintAuthority: owner, amount: terms.supply }, TOKEN_2022),
    getSetAuthorityInstruction(
      { owned: mint, owner, authorityType: AuthorityType.MintTokens, newAuthority: null },
      TOKEN_2022,
    ),
  ]
}
