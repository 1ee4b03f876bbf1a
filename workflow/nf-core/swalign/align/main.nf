process SWALIGN_ALIGN {
    tag "${meta.id}${part ? " ${part}/${parts}" : ''}"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/swalign:0.2.0--h0000000_0'
        : 'quay.io/biocontainers/swalign:0.2.0--h0000000_0'}"

    input:
    tuple val(meta), path(query)
    tuple val(meta2), path(reference)
    val part   // number of this part, from 1; null or 0: all queries
    val parts  // how many parts there are
    val format // bam, sam or paf

    output:
    tuple val(meta), path("*.{bam,sam,paf}"), emit: alignments
    tuple val(meta), path("*.swalign"), emit: receipt, optional: true
    tuple val("${task.process}"), val('swalign'), eval("swalign --version | sed 's/^swalign //'"), emit: versions_swalign, topic: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def share = part ? "--part ${part}/${parts}" : ''
    def name = part ? "${prefix}.part.${part}-of-${parts}" : prefix
    if (!['bam', 'sam', 'paf'].contains(format)) {
        error("swalign writes bam, sam or paf, not ${format}")
    }
    """
    swalign \\
        --threads ${task.cpus} \\
        ${share} \\
        ${args} \\
        --output ${name}.${format} \\
        ${query} \\
        ${reference}
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    def name = part ? "${prefix}.part.${part}-of-${parts}" : prefix
    if (!['bam', 'sam', 'paf'].contains(format)) {
        error("swalign writes bam, sam or paf, not ${format}")
    }
    """
    touch ${name}.${format}
    """
}
