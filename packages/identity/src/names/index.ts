export { checkName } from './check-name.ts'
export { looksLike, type Skeletons, skeletonsOf } from './skeleton.ts'
export { freeSlug, slugify, slugOf } from './slug.ts'
