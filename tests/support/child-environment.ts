/**
 * What a process of ours needs of the one that starts it. The cache of compiled code halves what a start costs, and
 * the tests start hundreds.
 */
export const CHILD_ENVIRONMENT = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
} as const
