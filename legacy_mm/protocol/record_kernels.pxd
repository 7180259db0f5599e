# The C types with which Cython compiles record_kernels.py: without them a number would be a Python object.
# Cython warns of `inline` here; without it the C compiler calls a function for each varint, at twice the time.
cimport cython
from cpython.tuple cimport PyTuple_Check, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from libc.string cimport memcpy

ctypedef const unsigned char* Address
ctypedef unsigned char* WritableAddress

cdef long long _TORN
cdef int _TORN_RECORD, _BYTES_LEFT_OVER, _OFFSET_OUT_OF_PLACE, _SKIPPED, _NONE_OPEN
cdef int _WRONG_CHECKSUM, _WRAPPED_TWICE, _OTHER_FORMAT, _HAS_HEADERS
cdef int _LEAST_MESSAGE, _TIME_SIZE, _FIELD_SIZES
cdef int _MOST_GROWTH, _LEAST_RECORD, _HEADER_SIZE, _LOG_OVERHEAD, _MAGIC, _CODECS
cdef int _CODEC_BITS, _LOG_APPEND_BIT
cdef long long _NO_TIMESTAMP, _MOST_OFFSETS, _FIRST_ROOM, _MOST_VARINT
cdef Py_ssize_t _RECORD_FIELDS, _TARGET_FIELDS
cdef unsigned int _BITS_32, _MURMUR_SEED, _MURMUR_FACTOR
cdef unsigned int[::1] _CRC32_TABLE, _CRC32C_TABLE
cdef unsigned long long _BITS_64

cdef class BatchRecords:
    cdef const unsigned char[::1] data
    cdef long long count, last_delta, base_timestamp, least_step
    cdef bint keep_timestamps

cdef class BatchHeader:
    cdef long long base_offset, leader_epoch, crc, attributes, last_delta, base_timestamp, max_timestamp, records

cdef class FoundBatches:
    cdef readonly list columns
    cdef long long size
    cdef long long[::1] places, begins, ends, crcs, offsets, last_deltas, counts, attributes, base_timestamps
    cdef long long[::1] max_timestamps

cdef class PlacedRecords:
    cdef long long[::1] batches, timestamps, bodies, ends, new_deltas, old_deltas

cdef class NewBatches:
    cdef readonly list columns
    cdef long long[::1] partitions, counts, sizes, base_timestamps, max_timestamps, cursors, firsts

cdef class RecordFields:
    cdef readonly list columns
    cdef long long size
    cdef long long[::1] timestamps, offsets, keys, key_ends, values, value_ends, header_counts, headers

cdef class HeaderFields:
    cdef readonly list columns
    cdef long long[::1] names, name_ends, values, value_ends

cdef class RecordWriter:
    cdef readonly object memory
    cdef unsigned char[::1] _view
    cdef WritableAddress _out
    cdef long long _room
    cdef readonly long long base_timestamp, size, count, max_timestamp
    cdef readonly list wishes
    cpdef make_room(self, long long size)

cdef class Stamp:
    cdef object paths
    cdef bytes path_name, fixed, offset_name
    cdef long long name_size, count
    cdef bint has_path, has_fixed, path_first
    cdef long long size(self, bytes digits)
    cdef long long write(self, WritableAddress out, long long at, bytes path, bytes digits)

cdef class MessageRun:
    cdef readonly object memory
    cdef unsigned char[::1] _view
    cdef WritableAddress _out
    cdef long long _end
    cdef bint _check, _keeps_append_time
    cdef readonly long long size, count, first_offset, last_offset, base_timestamp, max_timestamp
    cdef readonly bint has_append_time, is_full

# As tuple.__new__ does it, without a tuple of arguments: 0.05 us less.
cdef extern from *:
    """
    static PyObject *legacy_mm_new_tuple(PyObject *type, PyObject *fields) {
        PyTypeObject *made = (PyTypeObject *)type;
        Py_ssize_t count = PyTuple_GET_SIZE(fields), number;
        PyObject *found;
        if (!PyType_IsSubtype(made, &PyTuple_Type)) {
            PyErr_SetString(PyExc_TypeError, "no type of tuples");
            return NULL;
        }
        if ((found = made->tp_alloc(made, count)) == NULL)
            return NULL;
        for (number = 0; number < count; number++) {
            PyObject *field = PyTuple_GET_ITEM(fields, number);
            Py_INCREF(field);
            PyTuple_SET_ITEM(found, number, field);
        }
        return found;
    }
    """
    object new_tuple "legacy_mm_new_tuple"(object made, tuple fields)

cdef inline Py_ssize_t fields_in(object found) noexcept:
    return PyTuple_GET_SIZE(found) if PyTuple_Check(found) else -1

cdef inline object field_of(object found, Py_ssize_t number):
    return <object>PyTuple_GET_ITEM(found, number)

cdef inline Address start_of(const unsigned char[::1] data) noexcept nogil:
    return &data[0]

cdef inline WritableAddress writable_start_of(unsigned char[::1] data) noexcept nogil:
    return &data[0]

cdef inline void copy_bytes(
        WritableAddress out, long long at, Address data, long long begin, long long end) noexcept nogil:
    memcpy(out + at, data + begin, end - begin)

cdef inline bytes bytes_at(Address data, long long begin, long long end):
    return data[begin:end]

cdef inline long long _signed(long long value) noexcept nogil

cdef inline long long _timestamp(BatchRecords records, long long delta) noexcept nogil

@cython.locals(
    raw=cython.longlong)
cdef inline (long long, long long) _read_varint(Address data, long long at, long long end, int most) noexcept nogil

@cython.locals(
    last=cython.longlong, half=cython.longlong, raw=cython.ulonglong, shift=cython.int, byte=cython.ulonglong)
cdef (long long, long long) _long_varint(Address data, long long at, long long end, int most) noexcept nogil

@cython.locals(
    raw=cython.ulonglong, size=cython.int)
cpdef inline int varint_size(long long value) noexcept nogil

@cython.locals(
    raw=cython.ulonglong)
cdef inline long long _write_varint(WritableAddress out, long long at, long long value) noexcept nogil

cdef inline long long _size_without_length(long long timestamp_delta, long long offset_delta, long long body) noexcept nogil

@cython.locals(
    size=cython.longlong)
cdef inline long long _record_size(long long timestamp_delta, long long offset_delta, long long body) noexcept nogil

@cython.locals(
    value=cython.longlong, step=cython.int)
cdef inline long long _read_int(Address data, long long at, int size) noexcept nogil

@cython.locals(
    length=cython.longlong)
cdef inline long long _read_header(BatchHeader header, Address data, long long at, long long end) noexcept nogil

@cython.locals(
    crc=cython.uint, word=cython.uint)
cdef inline unsigned int _crc(unsigned int[::1] table, Address data, long long at, long long end) noexcept nogil

@cython.locals(
    words_end=cython.longlong, hashed=cython.uint, word=cython.uint, rest=cython.int)
cdef inline unsigned int _murmur2(Address data, long long at, long long size) noexcept nogil

@cython.locals(
    positive=cython.uint, divisor=cython.uint)
cdef inline long long _partition_of(Address data, long long at, long long size, long long partitions) noexcept nogil

@cython.locals(
    size=cython.longlong, timestamp_delta=cython.longlong, offset_delta=cython.longlong, body=cython.longlong,
    key_size=cython.longlong, key=cython.longlong, value_size=cython.longlong, headers=cython.longlong,
    name_size=cython.longlong)
cdef inline (long long, long long, long long, long long, long long, long long) _read_record(
    Address data, long long at, long long end) noexcept nogil

@cython.locals(
    timestamp_delta=cython.longlong, offset_delta=cython.longlong, body=cython.longlong, key=cython.longlong,
    key_size=cython.longlong)
cdef inline (long long, long long, long long, long long, long long, long long) _next_record(
    BatchRecords records, Address data, long long at, long long end, long long last) noexcept nogil

cdef inline long long _write_record(
    WritableAddress out, long long at, long long timestamp_delta, long long offset_delta, Address data, long long body,
    long long end) noexcept nogil

cpdef read_varint(const unsigned char[::1] data, long long at, int most)

cpdef read_record(const unsigned char[::1] data, long long at)

cpdef murmur2(const unsigned char[::1] data)

cpdef partition_of(const unsigned char[::1] key, long long partitions)

@cython.locals(
    end=cython.longlong, at=cython.longlong, elsewhere=cython.longlong, keyless=cython.longlong,
    largest=cython.longlong, last=cython.longlong, answer=cython.longlong, index=cython.longlong,
    begin=cython.longlong, _=cython.longlong, offset=cython.longlong, key=cython.longlong, key_size=cython.longlong,
    data=Address, dense=cython.bint)
cpdef survey_records(BatchRecords records, long long partition, long long partitions)

@cython.locals(
    end=cython.longlong, at=cython.longlong, value_bytes=cython.longlong, key_bytes=cython.longlong, timed=cython.longlong,
    oldest=cython.longlong, newest=cython.longlong, _=cython.longlong, size=cython.longlong, after=cython.longlong,
    delta=cython.longlong, offset=cython.longlong, key_size=cython.longlong, value_size=cython.longlong,
    timestamp=cython.longlong, data=Address, total=cython.double)
cpdef measure_records(BatchRecords records, long long skip_below)

@cython.locals(
    end=cython.longlong, at=cython.longlong, made=cython.longlong, last=cython.longlong, turn=cython.longlong,
    target=cython.longlong, index=cython.longlong, delta=cython.longlong, offset=cython.longlong,
    body=cython.longlong, key=cython.longlong, key_size=cython.longlong, timestamp=cython.longlong,
    batch=cython.longlong, data=Address, open_batches=cython.longlong[::1], wished=cython.bint)
cpdef long long place_records(
    BatchRecords records, long long skip_below, long long partitions, long long first, long long step,
    bint hashes_keys, long long size_limit, const long long[::1] wishes, PlacedRecords placed, NewBatches batches) except *

cdef inline void _open(NewBatches batches, long long batch, long long partition, long long timestamp) noexcept nogil

cdef inline long long _grown(NewBatches batches, long long batch, long long timestamp, long long body) noexcept nogil

@cython.locals(
    at=cython.longlong, first=cython.longlong, batch=cython.longlong, index=cython.longlong, delta=cython.longlong,
    offset_delta=cython.longlong, data=Address, written=WritableAddress)
cpdef write_records(
    BatchRecords records, PlacedRecords placed, long long count, NewBatches batches, long long made,
    long long header_size, unsigned char[::1] out, long long base_offset, long long[::1] offsets)

@cython.locals(
    last=cython.longlong, _=cython.longlong, delta=cython.longlong, offset=cython.longlong, body=cython.longlong,
    timestamp_delta=cython.longlong)
cdef inline long long _append(
    BatchRecords records, Address data, long long at, long long end, long long first_timestamp,
    long long offsets_before, WritableAddress out, long long out_at) noexcept nogil

@cython.locals(
    begin=Address, end=cython.longlong, at=cython.longlong, after=cython.longlong, batches=cython.longlong,
    next_offset=cython.longlong, leader_epoch=cython.longlong, header=BatchHeader)
cpdef skip_batches(const unsigned char[::1] data)

@cython.locals(
    begin=Address, end=cython.longlong, after=cython.longlong, number=cython.longlong, size=cython.longlong,
    first_offset=cython.longlong, next_offset=cython.longlong, header=BatchHeader)
cpdef find_batches(
    const unsigned char[::1] data, long long at, long long codec, long long most_bytes, long long left_out,
    long long checked, long long room, FoundBatches found)

@cython.locals(
    begin=Address, written=WritableAddress, room=cython.longlong, size=cython.longlong, behind=cython.longlong,
    before=cython.longlong, joined=cython.longlong, count=cython.longlong, first_timestamp=cython.longlong,
    max_timestamp=cython.longlong, out_at=cython.longlong, records=BatchRecords)
cpdef join_found(const unsigned char[::1] data, FoundBatches found, long long number, unsigned char[::1] out)

@cython.locals(
    end=cython.longlong, at=cython.longlong, found=cython.longlong, named=cython.longlong, delta=cython.longlong,
    offset=cython.longlong, body=cython.longlong, _=cython.longlong, after=cython.longlong, key=cython.longlong,
    key_end=cython.longlong, place=cython.longlong, value=cython.longlong, value_end=cython.longlong,
    headers=cython.longlong, data=Address)
cpdef find_fields(
    BatchRecords records, long long start, long long most_bytes, long long skip_below, RecordFields fields)

@cython.locals(
    end=cython.longlong, number=cython.longlong, record=cython.longlong, at=cython.longlong, _=cython.longlong,
    name=cython.longlong, name_end=cython.longlong, value=cython.longlong, value_end=cython.longlong, data=Address)
cpdef find_headers(
    BatchRecords records, long long start, long long found, RecordFields fields, HeaderFields headers)

@cython.locals(
    size=cython.longlong, begin=cython.longlong)
cdef inline (long long, long long, long long) _field(Address data, long long at, long long end) noexcept nogil

@cython.locals(
    end=cython.longlong, at=cython.longlong, delta=cython.longlong, offset=cython.longlong,
    body=cython.longlong, _=cython.longlong, after=cython.longlong, key=cython.longlong, key_end=cython.longlong,
    place=cython.longlong, value=cython.longlong, value_end=cython.longlong, count=cython.longlong,
    timestamp=cython.longlong, data=Address, rows=list)
cpdef read_rows(
    BatchRecords records, long long start, long long most, long long skip_below, long long base_offset, object topic,
    object partition, object kind, object made)

cpdef handle_rows(object handle, list rows, list targets, list ends)

cpdef target_of(object record, object topic, object made)

@cython.locals(
    name=cython.longlong, name_end=cython.longlong, value=cython.longlong, value_end=cython.longlong,
    _=cython.longlong)
cdef _read_headers(Address data, long long at, long long end, long long count)

@cython.locals(
    begin=cython.longlong, number=cython.longlong, delta=cython.longlong, end=cython.longlong, place=cython.longlong,
    time=cython.longlong, wished=cython.longlong, writer=RecordWriter)
cpdef write_targets(
    list targets, list ends, list rows, long long base_offset, long long base_timestamp, long long now, long long wish,
    dict writers)

cdef inline object _pairs(object headers)

cdef inline object _name(object found)

cdef inline object _content(object found)

cdef inline long long _content_size(bytes found)

@cython.locals(
    timestamp_delta=cython.longlong, body=cython.longlong, size=cython.longlong, at=cython.longlong,
    out=WritableAddress)
cdef _write_target(
    RecordWriter writer, long long offset_delta, long long timestamp, bytes key, bytes value, object pairs)

@cython.locals(
    end=cython.longlong, at=cython.longlong, offset=cython.longlong, first=cython.longlong, delta=cython.longlong,
    body=cython.longlong, _=cython.longlong, after=cython.longlong, place=cython.longlong, count=cython.longlong,
    headers=cython.longlong, left_out=cython.longlong, left_bytes=cython.longlong, begin=cython.longlong,
    value_end=cython.longlong, count_then=cython.longlong, time=cython.longlong, timestamp_delta=cython.longlong,
    rest=cython.longlong, size=cython.longlong, to=cython.longlong, data=Address, out=WritableAddress, path=bytes,
    digits=bytes, name=Address)
cpdef write_stamped(
    BatchRecords records, long long start, long long skip_below, long long base_offset, long long now, long long wish,
    Stamp stamp, RecordWriter writer)

@cython.locals(
    found=cython.longlong, left_bytes=cython.longlong, value_begin=cython.longlong, value_end=cython.longlong,
    begin=cython.longlong, name_end=cython.longlong, behind=cython.longlong, this_begin=cython.longlong,
    this_end=cython.longlong, following=cython.longlong, _=cython.longlong)
cdef (long long, long long, long long, long long) _headers_called(
    Address data, long long at, long long end, long long count, Address name, long long size) noexcept

@cython.locals(
    begin=cython.longlong, name_end=cython.longlong, behind=cython.longlong, following=cython.longlong,
    _=cython.longlong)
cdef long long _copy_headers(
    WritableAddress out, long long to, Address data, long long at, long long end, long long count, Address name,
    long long size) noexcept

@cython.locals(at=cython.longlong)
cdef inline bint _is_same(Address data, long long begin, long long end, Address other, long long size) noexcept

@cython.locals(
    size=cython.longlong)
cdef inline long long _write_bytes(WritableAddress out, long long at, bytes content)

@cython.locals(
    size=cython.longlong)
cdef inline long long _write_content(WritableAddress out, long long at, bytes content)

@cython.locals(
    length=cython.longlong, body=cython.longlong, timestamp=cython.longlong, key=cython.longlong,
    key_size=cython.longlong, value=cython.longlong, value_size=cython.longlong)
cdef inline (long long, long long, long long, long long, long long, long long) _read_message(
    Address data, long long at, long long end) noexcept nogil

@cython.locals(
    begin=Address, end=cython.longlong, at=cython.longlong, after=cython.longlong, _=cython.longlong,
    count=cython.longlong, last_offset=cython.longlong)
cpdef skip_messages(const unsigned char[::1] data)

cpdef read_message(const unsigned char[::1] data, long long at)

@cython.locals(
    begin=Address)
cpdef bint has_right_checksum(const unsigned char[::1] data, long long at, long long after) except *

@cython.locals(
    crc=cython.longlong)
cpdef long long crc32(const unsigned char[::1] data) except *

@cython.locals(
    begin=Address, end=cython.longlong, error=cython.longlong, timestamp=cython.longlong, key=cython.longlong,
    key_size=cython.longlong, value=cython.longlong, value_size=cython.longlong, after=cython.longlong,
    attributes=cython.int, offset=cython.longlong, by_broker=cython.bint)
cpdef long long add_messages(
    MessageRun run, const unsigned char[::1] data, long long at, int magic, bint wrapped, long long base_offset,
    long long last_offset, long long time) except *

@cython.locals(
    timestamp_delta=cython.longlong, offset_delta=cython.longlong, body=cython.longlong, size=cython.longlong,
    at=cython.longlong, out=WritableAddress)
cdef inline bint _add_record(
    MessageRun run, long long offset, long long timestamp, Address data, long long key, long long key_size,
    long long value, long long value_size) noexcept nogil

cdef inline bint _ends_run(MessageRun run, long long offset, long long timestamp, bint by_broker) noexcept nogil

cdef inline long long _copy_field(
    WritableAddress out, long long at, Address data, long long begin, long long size) noexcept nogil

@cython.locals(
    data=Address, written=WritableAddress, end=cython.longlong, at=cython.longlong, out_at=cython.longlong,
    number=cython.longlong, delta=cython.longlong, _=cython.longlong, body=cython.longlong, key=cython.longlong,
    key_end=cython.longlong, place=cython.longlong, value=cython.longlong, value_end=cython.longlong,
    headers=cython.longlong, begin=cython.longlong)
cpdef long long write_messages(BatchRecords records, int magic, unsigned char[::1] out) except *

cdef inline long long _write_message_field(
    WritableAddress out, long long at, Address data, long long begin, long long end) noexcept nogil

@cython.locals(
    step=cython.int)
cdef inline void _write_int(WritableAddress out, long long at, long long value, int size) noexcept nogil
