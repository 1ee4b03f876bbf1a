# Chooses the two alleles of each gene that explain its reads best, from a matrix of `swalign --all --format mtx`:
#
#   awk -f typing.awk reads.mtx reads.mtx
#
# The gene of an allele is its name up to "*", or its whole name. The first pass adds up the scores of each allele. The second pass adds up, for each
# two of the ten highest alleles of a gene, the higher score of each pair of mates. Each of two alleles must score higher than the
# other for 2 % of the pairs; otherwise the gene is homozygous. -v mates=1 takes each row as a single read.

function rank(    column, gene, at) {
    for (column = 1; column <= columns; column++) {
        if (!(column in total)) continue
        gene = gene_of[column]
        for (at = ++kept[gene]; at > 1 && total[top[gene, at - 1]] < total[column]; at--)
            top[gene, at] = top[gene, at - 1]
        top[gene, at] = column
        if (kept[gene] > 10) kept[gene] = 10
    }
}
function add_read(    gene, one, other, a, b) {
    for (gene in seen) {
        for (one = 1; one <= kept[gene]; one++) {
            a = score[top[gene, one]] + 0
            for (other = one; other <= kept[gene]; other++) {
                b = score[top[gene, other]] + 0
                sum[gene, one, other] += a > b ? a : b
                higher[gene, one, other] += a > b
                higher[gene, other, one] += b > a
            }
        }
        pairs[gene]++
    }
    split("", score)
    split("", seen)
}
BEGIN { if (!mates) mates = 2 }
FNR == 1 { pass++; is_sized = 0 }
$2 == "column" { name[$3] = $4; gene_of[$3] = index($4, "*") > 1 ? substr($4, 1, index($4, "*") - 1) : $4; columns = $3 }
/^%/ { next }
!is_sized { is_sized = 1; if (pass == 2) rank(); next }
pass == 1 { total[$2] += $3; next }
int(($1 - 1) / mates) != read { add_read(); read = int(($1 - 1) / mates) }
{ score[$2] += $3; seen[gene_of[$2]] }
END {
    if (pass != 2) {
        print "typing.awk: give the matrix twice, for two passes" > "/dev/stderr"
        exit 2
    }
    add_read()
    for (gene in kept) {
        one = other = 1
        for (first = 1; first <= kept[gene]; first++)
            for (second = first; second <= kept[gene]; second++) {
                least = first == second ? 0 : 0.02 * pairs[gene]
                is_call = higher[gene, first, second] >= least && higher[gene, second, first] >= least
                if (is_call && sum[gene, first, second] > sum[gene, one, other]) {
                    one = first
                    other = second
                }
            }
        print gene "\t" name[top[gene, one]] "\t" name[top[gene, other]] "\t" sum[gene, one, other]
    }
}
