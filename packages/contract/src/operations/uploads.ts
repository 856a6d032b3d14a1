import { z } from 'zod'
import { operation } from '../define.ts'
import { Upload } from '../schemas/file.ts'

export const uploadFile = operation({
  id: 'uploadFile',
  group: 'Files',
  position: 10,
  method: 'POST',
  path: '/api/upload',
  summary: 'Upload a file',
  description:
    'Send a form (`multipart/form-data`) with one file. jpeg, png, webp, gif, mp4, webm, mov, pdf and zip are recognized by their bytes; txt, md, csv, json and py by their extension, and must be UTF-8. A file that no order refers to within 24 hours is deleted.',
  callers: ['agent', 'user', 'wallet'],
  limit: 'upload',
  input: z.strictObject({}),
  file: { name: 'file', description: 'The file, at most 50 MB' },
  output: Upload,
  status: 201,
  purpose: 'uploads.create',
  errors: { 400: ['unsupported_file_type'], 429: ['upload_quota_reached'] },
})
