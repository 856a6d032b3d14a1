import type { TokenMetadata } from '@market/core/ports/agent-wallets'
import {
  type AccountMeta,
  AccountRole,
  type Address,
  addEncoderSizePrefix,
  address,
  getAddressEncoder,
  getU32Encoder,
  getUtf8Encoder,
  type Instruction,
  mergeBytes,
  type ReadonlyUint8Array,
} from '@solana/kit'

/**
 * The extensions of Token-2022 that mints of agents use. Its other instructions are those of the Token program, with
 * another program address.
 */
export const TOKEN_2022_PROGRAM_ADDRESS = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')

/** The size of a token account, to which mints with extensions are padded, and the type of the account. */
const BASE_BYTES = 165 + 1
/** Type and length, before the data of each extension. */
const HEADER_BYTES = 4
const ADDRESS_BYTES = 32
const METADATA_POINTER_BYTES = HEADER_BYTES + 2 * ADDRESS_BYTES
const NON_TRANSFERABLE_BYTES = HEADER_BYTES
const LENGTH_BYTES = 4

const utf8 = getUtf8Encoder()

const metadataBytes = ({ name, symbol, uri }: TokenMetadata): number => {
  const texts = [name, symbol, uri].map((text) => LENGTH_BYTES + utf8.encode(text).length)
  // Update authority, mint, the texts, and the number of additional fields, of which there are none.
  return HEADER_BYTES + 2 * ADDRESS_BYTES + texts.reduce((sum, bytes) => sum + bytes, 0) + LENGTH_BYTES
}

export interface MintKind {
  readonly isTransferable: boolean
}

/** The size of the mint account at its creation. The metadata is added by its own instruction, which enlarges the account. */
export const mintBytes = ({ isTransferable }: MintKind): number =>
  BASE_BYTES + METADATA_POINTER_BYTES + (isTransferable ? 0 : NON_TRANSFERABLE_BYTES)

export const mintBytesWithMetadata = (kind: MintKind, token: TokenMetadata): number =>
  mintBytes(kind) + metadataBytes(token)

/** The size of an associated token account: its owner is immutable. */
export const tokenAccountBytes = ({ isTransferable }: MintKind): number =>
  BASE_BYTES + HEADER_BYTES + (isTransferable ? 0 : NON_TRANSFERABLE_BYTES)

/** Stands for no address. */
const NONE = new Uint8Array(ADDRESS_BYTES)
const text = addEncoderSizePrefix(utf8, getU32Encoder())

const writable = (account: Address) => ({ address: account, role: AccountRole.WRITABLE })
const readonly = (account: Address) => ({ address: account, role: AccountRole.READONLY })
const signer = (account: Address) => ({ address: account, role: AccountRole.READONLY_SIGNER })

const instruction = (
  accounts: readonly AccountMeta[],
  ...data: readonly ReadonlyUint8Array[]
): Instruction => ({
  programAddress: TOKEN_2022_PROGRAM_ADDRESS,
  accounts,
  data: mergeBytes(data.map((bytes) => Uint8Array.from(bytes))),
})

/** The metadata is in the mint itself, and nobody can point to another one later. */
export const initializeMetadataPointer = (mint: Address): Instruction =>
  instruction([writable(mint)], Uint8Array.of(39, 0), NONE, getAddressEncoder().encode(mint))

export const initializeNonTransferable = (mint: Address): Instruction =>
  instruction([writable(mint)], Uint8Array.of(32))

/** The first 8 bytes of the SHA-256 of the instruction's name in the token metadata interface. */
const INITIALIZE_METADATA = Uint8Array.of(210, 225, 30, 162, 88, 184, 77, 141)
const UPDATE_METADATA_AUTHORITY = Uint8Array.of(215, 228, 166, 228, 84, 100, 86, 123)

/** `authority` is that of the mint and becomes that of the metadata. */
export const initializeMetadata = (
  mint: Address,
  authority: Address,
  { name, symbol, uri }: TokenMetadata,
): Instruction =>
  instruction(
    [writable(mint), readonly(authority), readonly(mint), signer(authority)],
    INITIALIZE_METADATA,
    ...[name, symbol, uri].map((one) => text.encode(one)),
  )

/** Nobody can change the metadata afterwards. */
export const removeMetadataAuthority = (mint: Address, authority: Address): Instruction =>
  instruction([writable(mint), signer(authority)], UPDATE_METADATA_AUTHORITY, NONE)
