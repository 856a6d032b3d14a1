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
  /** Left out: the region's own. */
  readonly endpoint?: string
  /** Left out: those the machine's role gives. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
  /** For a call with all its tries. */
  readonly timeoutMs?: number
}

/** A key that signs inside the KMS and never leaves it. */
export interface KmsKey {
  readonly publicKey: KeyObject
  sign(message: Uint8Array, type: MessageType): Promise<Uint8Array>
}

const DEFAULT_TIMEOUT_MS = 5_000
const TRIES = 3

const away = (cause: unknown) => unavailable('The key service cannot be reached: try again', cause)

/** `spec` is checked at once: a key of another kind would sign for an address nobody expects. */
export const openKmsKey = async (
  settings: KmsSettings,
  spec: string,
  algorithm: SigningAlgorithmSpec,
): Promise<KmsKey> => {
  const client = new KMSClient({
    region: settings.region,
    maxAttempts: TRIES,
    ...(settings.endpoint === undefined ? {} : { endpoint: settings.endpoint }),
    ...(settings.credentials === undefined ? {} : { credentials: settings.credentials }),
  })
  const inTime = () => ({ abortSignal: AbortSignal.timeout(settings.timeoutMs ?? DEFAULT_TIMEOUT_MS) })

  const described = await client
    .send(new GetPublicKeyCommand({ KeyId: settings.keyId }), inTime())
    .catch((failure: unknown) => {
      throw away(failure)
    })
  if (
    described.KeySpec !== spec ||
    described.KeyUsage !== 'SIGN_VERIFY' ||
    described.PublicKey === undefined
  ) {
    throw new Error(`the KMS key ${settings.keyId} is no ${spec} key that signs`)
  }
  return {
    publicKey: createPublicKey({ key: Buffer.from(described.PublicKey), format: 'der', type: 'spki' }),
    async sign(message, type) {
      const answer = await client
        .send(
          new SignCommand({
            KeyId: settings.keyId,
            Message: message,
            MessageType: type,
            SigningAlgorithm: algorithm,
          }),
          inTime(),
        )
        .catch((failure: unknown) => {
          throw away(failure)
        })
      if (answer.Signature === undefined) throw away(new Error('the KMS gave no signature'))
      return answer.Signature
    },
  }
}
