import { createHash } from 'node:crypto'
import {
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  hashMessage,
  hexToBigInt,
  isHex,
  parseAbi,
  recoverMessageAddress,
  size,
  slice,
} from 'viem'
import { type ChainAccess, callContract } from './call-contract.ts'
import { badSignature, malformedSignature } from './errors.ts'

const MIN_BYTES = 64
const MAX_BYTES = 8192
const KEY_SIGNATURE_BYTES = 65
/** Half the order of secp256k1. From any valid signature anyone can make a second one with s above this. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const COUNTERFACTUAL_SUFFIX = '6492'.repeat(16)
const ERC1271_VALID = `0x1626ba7e${'0'.repeat(56)}`
const VALIDATOR_VALID = '0x01'

const erc1271Abi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
])

const parseSignature = (text: string): Hex => {
  const expected = `an EVM wallet sends 0x and ${MIN_BYTES} to ${MAX_BYTES} bytes in hexadecimal`
  // The length is checked first, so that a long text is not scanned.
  if (text.length > 2 + 2 * MAX_BYTES || text.length % 2 !== 0) throw malformedSignature(expected)
  if (!isHex(text, { strict: true }) || size(text) < MIN_BYTES) throw malformedSignature(expected)
  return text
}

/** The address of the signing key. Undefined when v is not 0, 1, 27 or 28, or r or s is out of range. */
const recoverSigner = async (text: string, signature: Hex): Promise<string | undefined> => {
  if (size(signature) !== KEY_SIGNATURE_BYTES) return undefined
  const key = createHash('sha256').update(signature).update(text).digest('base64')
  const known = signerCache.get(key)
  if (known !== undefined) return known
  try {
    const signer = (await recoverMessageAddress({ message: text, signature })).toLowerCase()
    cacheSigner(key, signer)
    return signer
  } catch {
    return undefined
  }
}

// Recovering a key takes about 2 ms of CPU, and clients send the same session signature with many requests. The signer
// depends only on the text and the signature, so it can be cached. Expiry and purpose are still checked every time.
const signerCache = new Map<string, string>()
const MAX_CACHED_SIGNERS = 10_000

function cacheSigner(key: string, signer: string): void {
  const [oldest] = signerCache.size < MAX_CACHED_SIGNERS ? [] : signerCache.keys()
  if (oldest !== undefined) signerCache.delete(oldest)
  signerCache.set(key, signer)
}

export const isHighS = (signature: Hex): boolean => hexToBigInt(slice(signature, 32, 64)) > HALF_ORDER

/** Verifies with the wallet contract (ERC-1271). An undeployed wallet is first deployed in the simulation (ERC-6492). */
const isSmartWalletSignature = async (
  access: ChainAccess,
  wallet: Hex,
  text: string,
  signature: Hex,
): Promise<boolean> => {
  const hash = hashMessage(text)
  if (signature.toLowerCase().endsWith(COUNTERFACTUAL_SUFFIX)) {
    const data = encodeDeployData({
      abi: erc6492SignatureValidatorAbi,
      bytecode: erc6492SignatureValidatorByteCode,
      args: [wallet, hash, signature],
    })
    return (await callContract(access, { data })) === VALIDATOR_VALID
  }
  const data = encodeFunctionData({
    abi: erc1271Abi,
    functionName: 'isValidSignature',
    args: [hash, signature],
  })
  return (await callContract(access, { to: wallet, data })) === ERC1271_VALID
}

/** Who verified the signature: the wallet's key or its contract. Throws unless the wallet signed. `wallet` is the lower-case address. */
export const verifyEvm = async (
  access: ChainAccess,
  wallet: Hex,
  text: string,
  signatureText: string,
): Promise<'key' | 'contract'> => {
  const signature = parseSignature(signatureText)
  if ((await recoverSigner(text, signature)) === wallet) {
    if (isHighS(signature)) throw badSignature()
    return 'key'
  }
  if (!(await isSmartWalletSignature(access, wallet, text, signature))) throw badSignature()
  return 'contract'
}
