export { checkName } from './check-name.ts'
export { looksLike, type Skeletons, skeletonsOf } from './skeleton.ts'
export { slugOf } from './slug.ts'
