import type { ObjectStore } from '@market/core/ports/object-store'
import { z } from 'zod'
import { noStorage, s3Store } from '../storage/s3.ts'
import { described } from './described.ts'

const CREDENTIALS = 'may put, get and delete objects of the bucket, and abort uploads'
const OF_MACHINE = 'those of the machine (`AWS_…`)'

/** Where files are stored. The api and the worker have the same. */
export const storageSettings = {
  S3_BUCKET: described(
    z.string().min(1).optional(),
    'the bucket of uploaded files. Without it, uploads are 503 and no files are served',
  ),
  S3_ENDPOINT: described(
    z.url().optional(),
    'a server with the S3 API, addressed by path; [encrypted](#encryption) with `https://`',
    { default: 'AWS' },
  ),
  S3_REGION: described(z.string().min(1).default('us-east-1'), 'the region of the bucket'),
  S3_ACCESS_KEY_ID: described(z.string().min(1).optional(), CREDENTIALS, {
    secret: true,
    default: OF_MACHINE,
  }),
  S3_SECRET_ACCESS_KEY: described(z.string().min(1).optional(), CREDENTIALS, {
    secret: true,
    default: OF_MACHINE,
  }),
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
