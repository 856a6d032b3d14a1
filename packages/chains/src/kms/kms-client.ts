import { createPublicKey, type KeyObject } from 'node:crypto'
import {
  GetPublicKeyCommand,
  KMSClient,
  type MessageType,
  SignCommand,
  type SigningAlgorithmSpec,
} from '@aws-sdk/client-kms'
import { unavailable } from '@market/kernel/api-error'

export interface KmsSettings {
  /** The key's id, ARN or alias. */
  readonly keyId: string
  readonly region: string
  /** Default: the endpoint of the region. */
  readonly endpoint?: string
  /** Default: the credentials of the machine's role. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
  /** Timeout of a call including all attempts. */
  readonly timeoutMs?: number
}

/** A key that signs inside the KMS and cannot be exported. */
export interface KmsKey {
  readonly publicKey: KeyObject
  sign(message: Uint8Array, type: MessageType): Promise<Uint8Array>
}

const DEFAULT_TIMEOUT_MS = 5_000
const MAX_ATTEMPTS = 3

const kmsUnavailable = (cause: unknown) => unavailable('The key service cannot be reached. Try again.', cause)

/** Checks `spec` at start, because a key of another type would sign for a different address. */
export const openKmsKey = async (
  settings: KmsSettings,
  spec: string,
  algorithm: SigningAlgorithmSpec,
): Promise<KmsKey> => {
  const client = new KMSClient({
    region: settings.region,
    maxAttempts: MAX_ATTEMPTS,
    ...(settings.endpoint === undefined ? {} : { endpoint: settings.endpoint }),
    ...(settings.credentials === undefined ? {} : { credentials: settings.credentials }),
  })
  const withTimeout = () => ({ abortSignal: AbortSignal.timeout(settings.timeoutMs ?? DEFAULT_TIMEOUT_MS) })

  const described = await client
    .send(new GetPublicKeyCommand({ KeyId: settings.keyId }), withTimeout())
    .catch((failure: unknown) => {
      throw kmsUnavailable(failure)
    })
  if (
    described.KeySpec !== spec ||
    described.KeyUsage !== 'SIGN_VERIFY' ||
    described.PublicKey === undefined
  ) {
    throw new Error(`the KMS key ${settings.keyId} is not a ${spec} signing key`)
  }
  return {
    publicKey: createPublicKey({ key: Buffer.from(described.PublicKey), format: 'der', type: 'spki' }),
    async sign(message, type) {
      const response = await client
        .send(
          new SignCommand({
            KeyId: settings.keyId,
            Message: message,
            MessageType: type,
            SigningAlgorithm: algorithm,
          }),
          withTimeout(),
        )
        .catch((failure: unknown) => {
          throw kmsUnavailable(failure)
        })
      if (response.Signature === undefined) throw kmsUnavailable(new Error('the KMS returned no signature'))
      return response.Signature
    },
  }
}
