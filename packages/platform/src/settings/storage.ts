import type { ObjectStore } from '@market/core/ports/object-store'
import { z } from 'zod'
import { noStorage, s3Store } from '../storage/s3.ts'

/** Where files are stored. The api and the worker have the same. */
export const storageSettings = {
  S3_BUCKET: z.string().min(1).optional(),
  /** Of any server with the S3 API; without it, AWS. */
  S3_ENDPOINT: z.url().optional(),
  S3_REGION: z.string().min(1).default('us-east-1'),
  S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
}

interface StorageConfig {
  readonly S3_BUCKET?: string | undefined
  readonly S3_ENDPOINT?: string | undefined
  readonly S3_REGION: string
  readonly S3_ACCESS_KEY_ID?: string | undefined
  readonly S3_SECRET_ACCESS_KEY?: string | undefined
  readonly TIMEOUT_FACTOR: number
}

/** Without a bucket, every access is rejected with `storage_unavailable`. */
export function storageFrom(config: StorageConfig): ObjectStore {
  const { S3_BUCKET: bucket, S3_ACCESS_KEY_ID: id, S3_SECRET_ACCESS_KEY: secret } = config
  if (bucket === undefined) return noStorage()
  return s3Store({
    bucket,
    endpoint: config.S3_ENDPOINT,
    region: config.S3_REGION,
    credentials:
      id === undefined || secret === undefined ? undefined : { accessKeyId: id, secretAccessKey: secret },
    timeoutFactor: config.TIMEOUT_FACTOR,
  })
}
