import type { FileUpload } from 'graphql-upload-minimal';

/**
 * A file of the request, as the scalar `Upload` gives it. The files of a request arrive in one stream: whoever awaits a file says that it is
 * needed now, and files before it that nobody reads yet are held in memory.
 */
export interface UploadedFile extends PromiseLike<FileUpload> {
  /** Nobody will read it: it is not held in memory. Does nothing if it is being read, or has several places. */
  discard: () => void;
}
