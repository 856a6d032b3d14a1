import type { TokenMetadata } from '@market/core/ports/agent-wallets'
import {
  AccountRole,
  type Address,
  addEncoderSizePrefix,
  address,
  fixEncoderSize,
  getAddressEncoder,
  getBytesEncoder,
  getStructEncoder,
  getU8Encoder,
  getU32Encoder,
  getUtf8Encoder,
  type Instruction,
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

const addressBytes = getAddressEncoder()
/** Stands for no address. */
const NONE = new Uint8Array(ADDRESS_BYTES)
const optionalAddress = fixEncoderSize(getBytesEncoder(), ADDRESS_BYTES)
const text = addEncoderSizePrefix(utf8, getU32Encoder())

const writable = (account: Address) => ({ address: account, role: AccountRole.WRITABLE })
const readonly = (account: Address) => ({ address: account, role: AccountRole.READONLY })
const signer = (account: Address) => ({ address: account, role: AccountRole.READONLY_SIGNER })

const instruction = (accounts: Instruction['accounts'] & {}, data: Instruction['data'] & {}) => ({
  programAddress: TOKEN_2022_PROGRAM_ADDRESS,
  accounts,
  data,
})

const pointer = getStructEncoder([
  ['extension', getU8Encoder()],
  ['initialize', getU8Encoder()],
  ['authority', optionalAddress],
  ['metadata', optionalAddress],
])

/** The metadata is in the mint itself, and nobody can point to another one later. */
export const initializeMetadataPointer = (mint: Address): Instruction =>
  instruction(
    [writable(mint)],
    pointer.encode({ extension: 39, initialize: 0, authority: NONE, metadata: addressBytes.encode(mint) }),
  )

export const initializeNonTransferable = (mint: Address): Instruction =>
  instruction([writable(mint)], getU8Encoder().encode(32))

/** The first 8 bytes of the SHA-256 of the instruction's name in the token metadata interface. */
const INITIALIZE_METADATA = Uint8Array.of(210, 225, 30, 162, 88, 184, 77, 141)
const UPDATE_METADATA_AUTHORITY = Uint8Array.of(215, 228, 166, 228, 84, 100, 86, 123)

const metadata = getStructEncoder([
  ['discriminator', fixEncoderSize(getBytesEncoder(), 8)],
  ['name', text],
  ['symbol', text],
  ['uri', text],
])

/** `authority` is that of the mint and becomes that of the metadata. */
export const initializeMetadata = (mint: Address, authority: Address, token: TokenMetadata): Instruction =>
  instruction(
    [writable(mint), readonly(authority), readonly(mint), signer(authority)],
    metadata.encode({ discriminator: INITIALIZE_METADATA, ...token }),
  )

const newAuthority = getStructEncoder([
  ['discriminator', fixEncoderSize(getBytesEncoder(), 8)],
  ['authority', optionalAddress],
])

/** Nobody can change the metadata afterwards. */
export const removeMetadataAuthority = (mint: Address, authority: Address): Instruction =>
  instruction(
    [writable(mint), signer(authority)],
    newAuthority.encode({ discriminator: UPDATE_METADATA_AUTHORITY, authority: NONE }),
  )
